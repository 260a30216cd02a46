"""Maia's networks: people's moves by rating, as their authors publish them."""

from kedge.models.store import PublicModel

_URL = (
    "https://raw.githubusercontent.com/CSSLab/maia-chess/"
    "e464f161c295f4246c2082f7b36d646d9bd14e7c/maia_weights/{name}.pb.gz"
)
_SHA256 = {
    "maia-1100": "e1cf1cd0c96b8a4fa6a275f4b9fd54ed1ffebf9fe44641b9fceded310e9619c4",
    "maia-1200": "ead4ba953f233ae732999ebc1e2b675378148527ebcfad2f0acbc5e4c224d98e",
    "maia-1300": "36195f87bf4761834baa0bf87472b18509a7261a9d7d6f1a8443261369a733f2",
    "maia-1400": "d5353ea6766356dad2d28920c6692f37a5f30963767f1a3105d33b4d0af011e8",
    "maia-1500": "35ab6f20421d59e1df3b17c5a5016947af4c6761368ef84044a9a9c7619a9a00",
    "maia-1600": "d2c9e5948581acf4b9fc0b1e720c5dc0fe64ce80cfc4a239d3f8a42e1176c876",
    "maia-1700": "d277eacd792d340a30abb464dc65127254e65cac57abca17facc469889b96478",
    "maia-1800": "0031ad7c4256b1fd09fbebd28418d644d68b26cd2a45df4967ccf5c7ec9c4965",
    "maia-1900": "e2f565f42d7cd9f122557e6dc4eb84e5bbaedceda1d404dc485d3611c7c97a12",
}
PUBLIC = {name: PublicModel(_URL.format(name=name), sha256) for name, sha256 in _SHA256.items()}

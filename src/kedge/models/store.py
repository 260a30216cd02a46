"""The user's models: one folder each under kedge's home, with weights and ``model.json``."""

import contextlib
import hashlib
import json
import re
import secrets
import shutil
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kedge.errors import InputError
from kedge.files import make_folder, read_file, write_atomic
from kedge.home import home
from kedge.models.weight_files import AnyWeights, format_of, parse_model, read_model
from kedge.specs import suggest

_WEIGHTS = {"lc0": "weights.pb.gz", "onnx": "weights.onnx"}
_INFO = "model.json"
# A name must be valid in a spec and as a folder on any file system.
_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_+.-]{0,62}[A-Za-z0-9_+-])?")
_FILES = (".pb.gz", ".pb", ".onnx")
_PARTIAL = ".partial"
_STALE_SECONDS = 3600.0

_MAIA = (
    "https://raw.githubusercontent.com/CSSLab/maia-chess/"
    "e464f161c295f4246c2082f7b36d646d9bd14e7c/maia_weights/{name}.pb.gz"
)
#: The models that `pull` can download, with the sha256 of their files at that commit.
PUBLIC = {
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
_TIMEOUT_SECONDS = 30.0
_MAX_DOWNLOAD = 64 * 2**20


@dataclass(frozen=True)
class ModelInfo:
    """Facts about a stored model."""

    name: str
    format: str
    sha256: str
    size: int
    source: str  # the path or URL it came from
    added: str
    architecture: dict[str, Any]
    training: dict[str, Any]

    @property
    def path(self) -> Path:
        return models_folder() / self.name / _WEIGHTS[self.format]


def models_folder() -> Path:
    return home() / "models"


def add(name: str, path: str | Path) -> ModelInfo:
    """Check a weight file and store a copy of it as `name`."""
    _check_new(name)
    content = read_file(path)
    weights = parse_model(content, str(path))
    if name in PUBLIC and weights.sha256 != PUBLIC[name]:
        raise InputError(
            f"{path}: not the published {name} (sha256 is {weights.sha256[:12]}…, expected "
            f"{PUBLIC[name][:12]}…); choose another name"
        )
    return _keep(name, content, weights, str(Path(path).resolve()))


def pull(name: str) -> ModelInfo:
    """Download a public model, check its sha256 and store it, unless it is stored already."""
    if name not in PUBLIC:
        raise InputError(f"no public model {name!r}; {suggest(name, list(PUBLIC))}")
    if (models_folder() / name).exists():
        return info(name)
    import http.client  # slow, and only downloads need it
    import urllib.request

    url = _MAIA.format(name=name)
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as answer:
            content: bytes = answer.read(_MAX_DOWNLOAD + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise InputError(
            f"cannot download {name} ({reason}); download {url} yourself, "
            f"then run: kedge models add {name} PATH"
        ) from None
    digest = hashlib.sha256(content).hexdigest()
    if digest != PUBLIC[name]:
        raise InputError(
            f"{url}: sha256 is {digest[:12]}…, expected {PUBLIC[name][:12]}…; nothing stored"
        )
    return _keep(name, content, parse_model(content, url), url)


def list_models() -> list[ModelInfo]:
    """The stored models, by name."""
    return [info(name) for name in stored_names()]


def info(name: str) -> ModelInfo:
    """Facts about the stored model `name`."""
    path = _folder(name) / _INFO
    try:
        content = json.loads(read_file(path, 2**20))
        stored = ModelInfo(name=name, **{k: v for k, v in content.items() if k != "name"})
        kinds = {"size": int, "architecture": dict, "training": dict}
        if any(not isinstance(v, kinds.get(k, str)) for k, v in asdict(stored).items()):
            raise TypeError
        if stored.format not in _WEIGHTS:
            raise ValueError
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{path}: damaged; run: kedge models remove {name}") from None
    return stored


def remove(name: str) -> None:
    """Delete the stored model `name`, even if it is damaged."""
    folder = _folder(name)
    try:
        # Rename first: an interrupted removal must not leave half a model.
        gone = _aside(folder)
        folder.rename(gone)
        shutil.rmtree(gone)
    except OSError as error:
        raise InputError(f"{folder}: cannot remove ({error.strerror})") from None


def stored_names() -> list[str]:
    """The names of the stored models, damaged or not."""
    try:
        here = [path.name for path in models_folder().iterdir() if path.is_dir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{models_folder()}: cannot read ({error.strerror})") from None
    return sorted(name for name in here if _NAME.fullmatch(name))


def known_names() -> list[str]:
    """The names of the stored models and of those that `pull` can download."""
    return sorted({*stored_names(), *PUBLIC})


def is_path(name: str) -> bool:
    """Whether `name` looks like the path of a weight file."""
    return name.lower().endswith(_FILES) or "/" in name


def resolve(name: str) -> Path:
    """The weight file of `name`, a stored model or a path."""
    if _NAME.fullmatch(name) and (models_folder() / name).is_dir():
        return info(name).path
    if is_path(name):
        if Path(name).is_file():
            return Path(name)
        raise InputError(f"{name}: no such file")
    raise _unknown(name)


def load(name: str) -> AnyWeights:
    """Load the weights of `name`, a stored model or a path; check a stored model's sha256."""
    path = resolve(name)
    weights = read_model(path)
    if path.parent == models_folder() / name and weights.sha256 != info(name).sha256:
        raise InputError(
            f"{path}: damaged; run: kedge models remove {name}, then add or pull it again"
        )
    return weights


def _keep(name: str, content: bytes, weights: AnyWeights, source: str) -> ModelInfo:
    stored = ModelInfo(
        name=name,
        format=format_of(content),
        sha256=weights.sha256,
        size=len(content),
        source=source,
        added=datetime.now(UTC).isoformat(timespec="seconds"),
        architecture=weights.architecture(),
        training=dict(weights.training),
    )
    # Written to a temporary folder and renamed, so that no partial model appears.
    folder = models_folder() / name
    partial = _aside(folder)
    make_folder(partial)
    _sweep()
    try:
        write_atomic(partial / _WEIGHTS[stored.format], content)
        write_atomic(partial / _INFO, json.dumps(asdict(stored), indent=1, allow_nan=False) + "\n")
        partial.rename(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot write ({error.strerror})") from None
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(partial)
    return stored


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.{secrets.token_hex(6)}{_PARTIAL}")


def _sweep() -> None:
    """Remove old leftovers of killed writers; recent ones may belong to a live process."""
    oldest = time.time() - _STALE_SECONDS
    for path in models_folder().glob(f".*{_PARTIAL}"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                shutil.rmtree(path)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"invalid model name {name!r}: use at most 64 letters, digits and _ + . -, "
            "starting with a letter"
        )


def _check_new(name: str) -> None:
    _check_name(name)
    if (models_folder() / name).exists():
        raise InputError(f"model {name} exists; remove it first: kedge models remove {name}")


def _folder(name: str) -> Path:
    _check_name(name)
    folder = models_folder() / name
    if not folder.is_dir():
        raise _unknown(name)
    return folder


def _unknown(name: str) -> InputError:
    if name in PUBLIC:
        return InputError(f"model {name} is not stored; run: kedge models pull {name}")
    from kedge.models import embedded  # which needs this module

    if name in embedded.names():
        return InputError(f"{name} ships with kedge and is not in the store")
    return InputError(f"unknown model {name!r}; {suggest(name, embedded.names() + known_names())}")

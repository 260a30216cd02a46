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

from kedge import catalogue
from kedge.errors import InputError
from kedge.files import make_folder, read_file, write_atomic
from kedge.home import home
from kedge.models.weight_files import AnyWeights, format_of, parse_model, read_model
from kedge.specs import suggest

_WEIGHTS = {"lc0": "weights.pb.gz", "onnx": "weights.onnx"}
_INFO = "model.json"
#: Command that lists the models, for errors.
LISTING = "kedge models list"
# A name must be valid in a spec and as a folder on any file system.
_NAME = re.compile(r"[A-Za-z](?:[A-Za-z0-9_+.-]{0,62}[A-Za-z0-9_+-])?")
_FILES = (".pb.gz", ".pb", ".onnx")
_PARTIAL = ".partial"
_STALE_SECONDS = 3600.0

_TIMEOUT_SECONDS = 30.0
_MAX_DOWNLOAD = 64 * 2**20


@dataclass(frozen=True)
class PublicModel:
    """A model that `pull` can download."""

    url: str
    sha256: str


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


def public() -> dict[str, PublicModel]:
    """The models that `pull` can download, by name: games name them in the catalogue."""
    models: dict[str, PublicModel] = {}
    for downloads in catalogue.loaded("public").values():
        models |= downloads
    return models


def models_folder() -> Path:
    return home() / "models"


def add(name: str, path: str | Path) -> ModelInfo:
    """Check a weight file and store a copy of it as `name`."""
    _check_new(name)
    content = read_file(path)
    weights = parse_model(content, str(path))
    published = public().get(name)
    if published is not None and weights.sha256 != published.sha256:
        raise InputError(
            f"{path}: not the published {name} (sha256 is {weights.sha256[:12]}…, expected "
            f"{published.sha256[:12]}…); choose another name"
        )
    return _keep(name, content, weights, str(Path(path).resolve()))


def pull(name: str) -> ModelInfo:
    """Download a public model, check its sha256 and store it, unless it is stored already."""
    published = public().get(name)
    if published is None:
        raise InputError(f"no public model {name!r}; {suggest(name, list(public()))}")
    if (models_folder() / name).exists():
        return info(name)
    import http.client  # slow, and only downloads need it
    import urllib.request

    url = published.url
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
    if digest != published.sha256:
        raise InputError(
            f"{url}: sha256 is {digest[:12]}…, expected {published.sha256[:12]}…; nothing stored"
        )
    return _keep(name, content, parse_model(content, url), url)


def list_models() -> list[ModelInfo]:
    """The stored models, by name."""
    return [info(name) for name in stored_names()]


def info(name: str) -> ModelInfo:
    """Facts about the stored model `name`."""
    return _info(_folder(name))


def _info(folder: Path) -> ModelInfo:
    path, name = folder / _INFO, folder.name
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
    return sorted({*stored_names(), *public()})


def is_path(name: str) -> bool:
    """Whether `name` looks like the path of a weight file."""
    return name.lower().endswith(_FILES) or "/" in name


def find(name: str) -> AnyWeights | None:
    """Load the weights of `name`, a stored model or a path; None if there is no such model.

    A stored model must have the sha256 of the file that was added.
    """
    folder = models_folder() / name
    if _NAME.fullmatch(name) and folder.is_dir():
        stored = _info(folder)
        weights = read_model(stored.path)
        if weights.sha256 != stored.sha256:
            raise InputError(
                f"{stored.path}: damaged; run: kedge models remove {name}, "
                "then add or pull it again"
            )
        return weights
    if is_path(name):
        return read_model(name)
    if name in public():
        raise _not_pulled(name)
    return None


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
        if name in public():
            raise _not_pulled(name)
        raise InputError(f"no stored model {name!r}; {suggest(name, stored_names(), LISTING)}")
    return folder


def _not_pulled(name: str) -> InputError:
    return InputError(f"model {name} is not stored; run: kedge models pull {name}")

"""Models of any game, by name: those in packages, those of the user, and files."""

from kedge.errors import InputError
from kedge.models import shipped_models, store
from kedge.models.store import LISTING, ModelInfo
from kedge.models.weight_files import AnyWeights, W, of_class
from kedge.specs import suggest


def find(name: str) -> AnyWeights | None:
    """Load the model `name`, shipped or stored, or the file at that path; None if unknown."""
    return shipped_models.load(name) if name in shipped_models.names() else store.find(name)


def load(name: str) -> AnyWeights:
    """Load the model `name`, or the file at that path."""
    weights = find(name)
    if weights is None:
        raise _unknown(name)
    return weights


def load_as(kind: type[W], name: str) -> W:
    """Load the model `name`, whose weights must be of the class `kind`."""
    return of_class(kind, load(name), name)


def sha256(name: str) -> str:
    """Return the sha256 of the model `name`, or of the file at that path."""
    return shipped_models.sha256(name) if name in shipped_models.names() else load(name).sha256


def info(name: str) -> ModelInfo:
    """Facts about the model `name`, shipped or stored."""
    if name in shipped_models.names():
        return shipped_models.info(name)
    if name not in names():
        raise _unknown(name)
    return store.info(name)


def names() -> list[str]:
    """The names of all models: shipped, stored, and those that `store.pull` can download."""
    return sorted({*shipped_models.names(), *store.known_names()})


def is_known(name: str) -> bool:
    """Whether a shipped or stored model has this name; paths do not count."""
    return name in (*shipped_models.names(), *store.stored_names())


def _unknown(name: str) -> InputError:
    return InputError(f"unknown model {name!r}; {suggest(name, names(), LISTING)}")

"""Models of any game, by name."""

from kedge.models import embedded, store
from kedge.models.weight_files import AnyWeights


def load(name: str) -> AnyWeights:
    """The model that ships with kedge under this name, a stored one, or that of a path."""
    return embedded.load_any(name) if name in embedded.names() else store.load(name)


def is_known(name: str) -> bool:
    """Whether there is such a model, shipped or stored; paths are not names."""
    return name in (*embedded.names(), *store.stored_names())

"""Models of any game, by name."""

from kedge.models import embedded, store
from kedge.models.weight_files import AnyWeights


def load(name: str) -> AnyWeights:
    """Load a model by name, shipped or stored, or by path."""
    return embedded.load_any(name) if name in embedded.names() else store.load(name)


def is_known(name: str) -> bool:
    """Whether a shipped or stored model has this name; paths do not count."""
    return name in (*embedded.names(), *store.stored_names())

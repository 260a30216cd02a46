"""Models that users add, under names that specs can reach."""

from pathlib import Path

from kedge.agents.registry import AGENTS
from kedge.errors import InputError
from kedge.models import shipped_models, store
from kedge.models.store import ModelInfo


def add_model(name: str, path: str | Path) -> ModelInfo:
    """Copy a weight file into the store as the model `name`."""
    if name in (*AGENTS.names(), *shipped_models.names()):
        what = "an agent" if name in AGENTS.names() else "a shipped model"
        raise InputError(f"{name} is the name of {what}; choose another name")
    return store.add(name, path)

"""The earlier name of `kedge.models.shipped_models`."""

from kedge.models.shipped_models import *  # noqa: F403
from kedge.models.shipped_models import load_for_players as load_embedded

__all__ = ["load_embedded"]

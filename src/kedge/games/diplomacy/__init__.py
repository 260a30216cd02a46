"""No-press Diplomacy: the rules."""

from kedge._core import DiplomacyBatch
from kedge.games.diplomacy.game import (
    BORDERS,
    LOCATIONS,
    POWERS,
    Diplomacy,
    DiplomacyState,
    PackedOrders,
    adjudicate_many,
    coordinated,
    failed_moves,
    format_orders,
    parts_of,
    place_of,
    player,
    shares_of,
    short_order,
    unit_of,
)

__all__ = [
    "BORDERS",
    "LOCATIONS",
    "POWERS",
    "Diplomacy",
    "DiplomacyBatch",
    "DiplomacyState",
    "PackedOrders",
    "adjudicate_many",
    "coordinated",
    "failed_moves",
    "format_orders",
    "parts_of",
    "place_of",
    "player",
    "shares_of",
    "short_order",
    "unit_of",
]

"""Rule sets of Go, by name and by field."""

import json
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any

from kedge.errors import InputError
from kedge.games.go.game import GoState

_VALUES: dict[str, tuple[str, ...]] = {
    "ko": ("POSITIONAL", "SITUATIONAL", "SIMPLE"),
    "scoring": ("AREA", "TERRITORY"),
    "white_handicap_bonus": ("0", "N-1", "N"),
}
# KataGo's other fields, and their values that have no effect here.
_FIXED: dict[str, tuple[object, ...]] = {
    "hasButton": (False,),
    "tax": ("NONE", "SEKI"),
    "friendlyPassOk": (False, True),
}


@dataclass(frozen=True)
class GoRules:
    """Options of `kedge.games.go.game.GoState` and its score, with KataGo's fields and values.

    >>> GoRules.named("japanese").scoring
    'TERRITORY'
    """

    ko: str = "POSITIONAL"
    scoring: str = "AREA"
    suicide: bool = False
    white_handicap_bonus: str = "0"
    """Points that White gets for N handicap stones."""

    def __post_init__(self) -> None:
        for name, allowed in _VALUES.items():
            value = getattr(self, name)
            if value not in allowed:
                raise InputError(f"{_camel(name)}: {', '.join(allowed)}, not {str(value)[:40]!r}")
        if not isinstance(self.suicide, bool):
            raise InputError(f"suicide: true or false, not {str(self.suicide)[:40]!r}")

    @classmethod
    def named(cls, name: str) -> "GoRules":
        """Return the rules of a name such as ``chinese``, or of JSON from `to_json`."""
        if name.lstrip().startswith("{"):
            return cls().with_fields(_object(name))
        key = name.strip().lower().replace("_", "-")
        if key not in _NAMED:
            raise InputError(f"unknown rules {name[:40]!r}; known: {', '.join(_NAMED)}")
        return _NAMED[key]

    def with_fields(self, given: dict[str, Any]) -> "GoRules":
        """Return a copy with these fields changed; the names are KataGo's."""
        ours = {_camel(field.name): field.name for field in fields(self)}
        changed = {}
        for name, value in given.items():
            if name in ours:
                changed[ours[name]] = value
            elif name not in _FIXED or value not in _FIXED[name]:
                raise InputError(f"rule {name[:40]} = {str(value)[:40]} is not supported")
        return replace(self, **changed)

    def to_json(self) -> str:
        """Return the rules as one line of JSON, as KataGo writes them; eyes in seki count."""
        ours = {_camel(field.name): getattr(self, field.name) for field in fields(self)}
        return json.dumps({"hasButton": False, "tax": "NONE", **ours}, separators=(",", ":"))

    def handicap_bonus(self, stones: int) -> int:
        return {"0": 0, "N-1": max(0, stones - 1), "N": stones}[self.white_handicap_bonus]

    def score(self, state: GoState, dead: Collection[int], handicap: int) -> float:
        """Black's points minus White's, after removing the stones at `dead`."""
        points = state.score(dead, "area" if self.scoring == "AREA" else "territory")
        return points - self.handicap_bonus(handicap)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InputError("rules: a name or a JSON object, as in kata-get-rules")
    return value


_CHINESE = GoRules(white_handicap_bonus="N")
_JAPANESE = GoRules(ko="SIMPLE", scoring="TERRITORY")
_AGA = GoRules(ko="SITUATIONAL", white_handicap_bonus="N-1")
_NAMED = {
    "tromp-taylor": GoRules(suicide=True),
    "chinese": replace(_CHINESE, ko="SIMPLE"),
    "chinese-ogs": _CHINESE,
    "chinese-kgs": _CHINESE,
    "japanese": _JAPANESE,
    "korean": _JAPANESE,
    "aga": _AGA,
    "bga": _AGA,
    "french": _AGA,
    "new-zealand": GoRules(ko="SITUATIONAL", suicide=True),
}

"""The rules that Go is played by, as far as they differ: by name, and field by field."""

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
# KataGo's other fields, and the values of theirs that change nothing here.
_FIXED: dict[str, tuple[object, ...]] = {
    "hasButton": (False,),
    "tax": ("NONE", "SEKI"),
    "friendlyPassOk": (False, True),
}


@dataclass(frozen=True)
class GoRules:
    """What `kedge.games.go.game.GoState` and its score are told; fields and values are KataGo's.

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
        """By a name such as ``chinese``, or from JSON as `to_json` writes it."""
        if name.lstrip().startswith("{"):
            return cls().with_fields(_object(name))
        key = name.strip().lower().replace("_", "-")
        if key not in _NAMED:
            raise InputError(f"no rules {name[:40]!r}: {', '.join(_NAMED)}")
        return _NAMED[key]

    def with_fields(self, given: dict[str, Any]) -> "GoRules":
        """Others in these fields, which have KataGo's names."""
        ours = {_camel(field.name): field.name for field in fields(self)}
        changed = {}
        for name, value in given.items():
            if name in ours:
                changed[ours[name]] = value
            elif name not in _FIXED or value not in _FIXED[name]:
                raise InputError(f"no rule {name[:40]} {str(value)[:40]}")
        return replace(self, **changed)

    def to_json(self) -> str:
        """In one line, as KataGo says it; eyes in seki count."""
        ours = {_camel(field.name): getattr(self, field.name) for field in fields(self)}
        return json.dumps({"hasButton": False, "tax": "NONE", **ours}, separators=(",", ":"))

    def handicap_bonus(self, stones: int) -> int:
        return {"0": 0, "N-1": max(0, stones - 1), "N": stones}[self.white_handicap_bonus]

    def score(self, state: GoState, dead: Collection[int], handicap: int) -> float:
        """Black's points less White's, once the stones at `dead` are taken off."""
        found = state.score(dead, "area" if self.scoring == "AREA" else "territory")
        return found - self.handicap_bonus(handicap)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("rules: a name, or a JSON object such as kata-get-rules gives")
    return found


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

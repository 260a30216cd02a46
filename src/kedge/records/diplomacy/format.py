"""The record format of Diplomacy."""

from pathlib import Path

from kedge.records.diplomacy.files import read_diplomacy_games, write_diplomacy_games
from kedge.records.diplomacy.positions import replayed_games
from kedge.records.formats import RecordFormat
from kedge.records.json_games import json_keys


def _has_phases(path: Path) -> bool:
    return "phases" in json_keys(path)


DIPLOMACY = RecordFormat(
    read=replayed_games,
    read_for_prediction=read_diplomacy_games,
    sniff=_has_phases,
    files="JSON lines, or games that the `diplomacy` package saved",
    write=write_diplomacy_games,
)

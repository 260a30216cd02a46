"""The record format of Hanabi."""

from functools import partial
from pathlib import Path

from kedge.records.formats import RecordFormat
from kedge.records.hanabi.files import write_hanabi_games
from kedge.records.hanabi.positions import replayed_hanabi_games
from kedge.records.json_games import json_keys


def _has_deck(path: Path) -> bool:
    return "deck" in json_keys(path)


HANABI = RecordFormat(
    read=replayed_hanabi_games,
    read_for_prediction=partial(replayed_hanabi_games, keep_positions=True),
    sniff=_has_deck,
    files="JSON lines, or games that hanab.live exports",
    write=write_hanabi_games,
)

"""Games of Hanabi for two between the bots of Quuxplusone/Hanabi, as JSON lines.

make EXTRA_CXXFLAGS=-O3 run_SmartBot     (in their repository; MIT licence)
python docs/make_bot_games.py ./run_SmartBot --games 198000 | xz > smartbot.jsonl.xz

A bot's program tells of one game a seed, in words. Game N is that of seed N, whoever asks.
"""

import argparse
import json
import re
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COLOURS = ["red", "orange", "yellow", "green", "blue"]
LETTERS = {name[0]: number for number, name in enumerate(COLOURS)}
COPIES = {1: 3, 2: 2, 3: 2, 4: 2, 5: 1}
#: By how many cards the hand has.
SLOTS = {
    5: ["oldest", "second-oldest", "middle", "second-newest", "newest"],
    4: ["oldest", "second-oldest", "second-newest", "newest"],
}
CARD = re.compile(r"(\d)([roygb])")
MOVED = re.compile(r"Player (\d) (played|discarded|tried to play) his (\S+) card")
TOLD = re.compile(r"Player (\d) told player (\d) that .* (?:was|were) (\w+)\.")
DREW = re.compile(r"drew a replacement \((\d[roygb])\)")


def card_of(text: str) -> tuple[int, int]:
    return LETTERS[text[1]], int(text[0])


def game_of(log: str, bot: str, seed: int) -> dict[str, object]:
    """What the program says of a game, as our files do."""
    lines = log.splitlines()
    if not lines or not lines[0].startswith("Current hands:"):
        raise SystemExit(f"{bot}: says nothing of its first game")
    deck = [card_of("".join(card)) for card in CARD.findall(lines[0])]
    held, actions, piles = [5, 5], [], ""
    for line in lines:
        if told := TOLD.match(line):
            by, to, what = told.groups()
            is_rank = what[0].isdigit()
            value = int(what[0]) if is_rank else COLOURS.index(what)
            actions.append([int(by), "rank" if is_rank else "color", int(to), value])
        elif moved := MOVED.match(line):
            by, verb, which = moved.groups()
            slot = SLOTS[held[int(by)]].index(which)
            actions.append([int(by), "discard" if verb == "discarded" else "play", slot, -1])
            held[int(by)] -= 1
        elif drew := DREW.search(line):
            deck.append(card_of(drew[1]))
            held[int(line.split()[1])] += 1
        elif line.startswith("Current piles"):
            piles = line
    score = sum(int(pile) for pile in re.findall(r"(\d)[roygb]", piles))
    left = Counter(
        {(color, rank): COPIES[rank] for color in range(5) for rank in COPIES}
    ) - Counter(deck)
    deck += sorted(left.elements())  # never drawn: in any order
    return {
        "id": f"{bot}-seed-{seed}",
        "source": f"Quuxplusone/Hanabi, {bot}, seed {seed}",
        "license": "generator MIT",
        "num_players": 2,
        "hand_size": 5,
        "seats": [f"ai:{bot}"] * 2,
        "colors": COLOURS,
        "deck": deck,
        "actions": actions,
        "score": score,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1, help="seed of the first game, 1 or more")
    parser.add_argument("--workers", type=int, default=2, help="games at once")
    told = parser.parse_args()
    if not told.program.is_file():
        raise SystemExit(f"{told.program}: no such program; make run_SmartBot makes one")
    bot = told.program.name.removeprefix("run_")

    def play(seed: int) -> str:
        command = [told.program.resolve(), "--players", "2", "--games", "1", "--seed", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return json.dumps(game_of(done.stderr, bot, seed), separators=(",", ":"))

    with ThreadPoolExecutor(told.workers) as pool:
        for line in pool.map(play, range(told.first, told.first + told.games)):
            print(line)


if __name__ == "__main__":
    main()

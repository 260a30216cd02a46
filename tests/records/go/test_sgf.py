"""SGF in and out: golden texts, sgfmill's reader and writer, charsets, damage."""

import random
import re
import time
from re import _constants, _parser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf, sgf_grammar, sgf_moves, sgf_properties

from kedge.errors import InputError
from kedge.records import GoGame, MoveNote, ReadReport, read_sgf, streams, write_sgf
from kedge.records.charsets import charset_of
from kedge.records.go.games import SIZES, date_of, komi_of, result_of, split_of
from kedge.records.go.sgf import read_pieces, reading, spaces


def read(content: bytes | str) -> tuple[list[GoGame], ReadReport]:
    report = ReadReport()
    return list(read_sgf(content, report)), report


def only(content: bytes | str) -> GoGame:
    [game], report = read(content)
    assert report.broken == []
    return game


def letters(game: GoGame) -> str:
    names = "abcdefghijklmnopqrs"
    return " ".join(
        "--" if point == game.size**2 else names[point % game.size] + names[point // game.size]
        for point in game.moves.tolist()
    )


# --- Golden texts -------------------------------------------------------------------------------


def test_a_game():
    game = only(
        "(;GM[1]FF[4]CA[UTF-8]SZ[19]KM[6.50]RU[Japanese]DT[1996-05-06,07]PB[Rin \\[a\\]\\\nb]BR[9p]"
        "\nPW[Cho]WR[9p]EV[Meijin\nfinal]SO[book]RE[W+Resign];B[pd];W[dp];B[];W[tt])"
    )
    assert letters(game) == "pd dp -- --"
    assert game.moves.dtype == np.int16
    assert game.moves.tolist() == [3 * 19 + 15, 15 * 19 + 3, 361, 361]
    assert (game.colours, game.first_player, game.is_even) == (None, 0, True)
    assert (game.size, game.komi, game.rules, game.handicap) == (19, 6.5, "Japanese", 0)
    assert (game.black, game.black_rank, game.white, game.white_rank) == (
        "Rin [a]b",
        "9p",
        "Cho",
        "9p",
    )
    assert (game.event, game.source, game.date, game.year) == (
        "Meijin final",
        "book",
        "1996-05-06",
        1996,
    )
    assert (game.result, game.black_return, game.ai) == ("W+R", -1.0, False)
    assert split_of(game) == "train"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(;)", ""),
        ("(;B[aa];W[bb])", "aa bb"),
        ("(;B[aa]W[bb])", "aa bb"),
        ("( ; B [aa] ; W\n[bb]\n)", "aa bb"),
        ("junk (x (;B[aa];W[bb]) junk", "aa bb"),
        ("(;Black[aa];White[bb])", "aa bb"),
        ("(;B[aa](;W[bb];B[cc](;W[dd])(;W[ee]))(;W[ff];B[gg]))", "aa bb cc dd"),
        ("(;B[aa]C[(;W[cc\\];)];W[bb]BL[10]LB[aa:1][bb:2])", "aa bb"),
        ("(;B[aa][cc];W[bb]C[x]KO[])", "aa bb"),
        ("(;B[aa]C[x];W[];B[bb]N[y];W[cc])", "aa -- bb cc"),
    ],
)
def test_main_lines(text, expected):
    assert letters(only(text)) == expected


def test_colours():
    assert only("(;W[aa];B[bb])").colours.tolist() == [1, 0]
    assert only("(;B[aa];B[bb];W[cc])").colours.tolist() == [0, 0, 1]
    stones = "(;SZ[9]HA[2]AB[cg][gc]"
    game = only(stones + ";W[aa];B[bb])")
    assert (game.colours, game.handicap, game.black_stones) == (None, 2, (24, 56))
    assert (game.first_player, game.mover(0), game.mover(1)) == (1, 1, 0)
    assert only(stones + ";B[aa])").mover(0) == 0
    assert only("(;HA[1];B[aa])").handicap == 0
    assert not game.is_even
    assert split_of(game) is None


def test_setup():
    game = only("(;SZ[5]AB[aa:cb]AE[bb]AW[ee][cb];W[dd])")
    assert game.black_stones == (0, 1, 2, 5)
    assert game.white_stones == (7, 24)
    assert only("(;SZ[5];AB[aa];W[dd])").black_stones == (0,)


def test_collections():
    texts = ["(;SZ[9];B[aa])", "(;SZ[13];B[bb](;W[cc])(;W[dd]))", "(;B[ss])"]
    games, report = read(" x ".join(texts))
    assert [(game.size, letters(game)) for game in games] == [(9, "aa"), (13, "bb cc"), (19, "ss")]
    assert (report.games, report.positions, report.broken_games) == (3, 4, 0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(;GM[2];B[aa])", "not Go: game type '2'"),
        ("(;SZ[21];B[aa])", "21×21 board; only square boards of 2 to 19 lines are read"),
        ("(;SZ[13:9];B[aa])", "13×9 board; only square boards of 2 to 19 lines are read"),
        ("(;SZ[big];B[aa])", "'big' is not a board size"),
        ("(;SZ[9];B[aa];W[jj])", "move 2: 'jj' is not a point of a 9×9 board"),
        ("(;B[aa];W[q16])", "move 2: 'q16' is not a point"),
        ("(;B[aa];AW[bb];W[cc])", "stones set up after move 1"),
        ("(;AB[xx])", "setup: 'xx' is not on a 19×19 board"),
        ("(;AB[x])", "setup: 'x' is not a point"),
        ("(;B[aa];W[bb", "cut short: another game starts in it"),
        ("(;B[aa];W[bb]C[x] \n(;B[cc];W[dd])", "cut short: another game starts in it"),
        ("(;B[aa];W[bb]!)", "'!)\\n(;FF[4]SZ[5];B[bb' is not SGF"),
        ("(;B[aa]())", "variation without moves"),
        ("(;B[aa](;W[bb]);B[cc])", "node after variations"),
        ("(;B[aa](C[bb]))", "property outside a node"),
    ],
)
def test_a_broken_game_costs_itself_only(text, reason):
    good = "(;FF[4]SZ[5];B[bb];W[cc])\n"
    if text.endswith("[bb"):
        text += "]"
    games, report = read(good + text + "\n" + good)
    assert [letters(game) for game in games] == ["bb cc"] * 2
    [broken] = report.broken
    assert (broken.number, broken.reason, broken.where) == (2, reason, "SGF, line 2")


def test_cut_short():
    for text in ("(;B[aa]", "(;B[aa];W[b", "(;B[aa]C[x\\", "(;", "(;AB"):
        games, report = read(text)
        assert games == []
        assert [one.reason for one in report.broken] == ["cut short"]
    for text in ("", "no game", "(x", "\0" * 100):
        games, report = read(text)
        assert games == []
        assert [one.reason for one in report.broken] == ["no game found"]
        assert report.noise == 1


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_pieces_of_a_text(size):
    texts = [random_text(random.Random(seed)) for seed in range(20)]
    whole = "\n\n".join(["x", *texts, "(;B[aa"]).encode()
    games, report = read(whole)
    parts = [whole[start : start + size] for start in range(0, len(whole), size)]
    again = ReadReport()
    assert list(read_pieces(iter(parts), "SGF", again)) == games
    assert again.broken == report.broken


def test_a_game_that_is_too_long(monkeypatch):
    monkeypatch.setattr(streams, "LONGEST", 1000)
    long = b"(;FF[4];B[aa]" + b";W[bb];B[cc]" * 500 + b"(;W[aa])(;W[bb]))(;FF[4];B[dd])"
    parts = [long[start : start + 500] for start in range(0, len(long), 500)]
    report = ReadReport()
    assert [letters(game) for game in read_pieces(iter(parts), "SGF", report)] == ["dd"]
    assert report.broken_games == 1


@pytest.mark.parametrize("unit", ["(", "(;", "(;FF[4]", "[", "a", "C[", "\\", ";B[aa]C", " ", ")("])
def test_time_grows_with_the_length_only(unit):
    text = unit * (500_000 // len(unit))
    start = time.process_time()
    for front in ("", "(;B[aa]", "(;B[aa]C["):
        read(front + text)
    assert time.process_time() - start < 5.0


# --- Fields -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "komi"),
    [
        ("6.5", 6.5),
        ("5.50", 5.5),
        ("550", 5.5),
        ("0", 0.0),
        ("-5.5", -5.5),
        ("375", 7.5),
        ("3.75", 7.5),
        ("2 3/4", 5.5),
        ("5 1/2", 5.5),
        ("3又3/4子", 7.5),
        ("1子", 2.0),
        ("4目半", 4.5),
        (".5", 0.5),
        ("6,5 points", 6.5),
        ("90", 90.0),
        ("none", None),
        ("", None),
        ("٣", None),
    ],
)
def test_komi(text, komi):
    assert komi_of(text) == komi


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("1996-05-06", "1996-05-06"),
        ("1996-05-06,07,08", "1996-05-06"),
        ("1996-05,06", "1996-05"),
        ("1767-02-16..03-06", "1767-02-16"),
        ("1667-1668", "1667"),
        ("2004年5月3日", "2004-05-03"),
        ("2004/13/01", "2004"),
        ("3 May 1951", "1951"),
        ("05/03/1951", "1951"),
        ("ca. 1660s", "1660"),
        ("196 AD", None),
        ("", None),
    ],
)
def test_dates(text, date):
    assert date_of(text) == date


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("B+3.50", "B+3.5"),
        ("W+.5", "W+0.5"),
        ("w+r", "W+R"),
        ("B+Time", "B+T"),
        ("Black+Forfeit", "B+F"),
        ("W+1半", "W+1.5"),
        ("W+ (but B does not lose)", "W+"),
        ("黑中盘胜", "B+R"),
        ("White won by 3", "W+"),
        ("0", "0"),
        ("Draw", "0"),
        ("Void", "Void"),
        ("Left unfinished", "?"),
        ("", "?"),
    ],
)
def test_results(text, result):
    assert result_of(text) == result


def test_programs():
    for name, is_program in (("Master", True), ("DeepZenGo", True), ("Komatsu Kaizen", False)):
        assert only(f"(;PB[{name}];B[aa])").ai == is_program


# --- Charsets -----------------------------------------------------------------------------------

NAMES = {
    "gb18030": ("聂卫平", "第一届中国围棋名人战决赛", "马晓春九段对刘小光"),
    "cp932": ("坂田栄男", "第十五期本因坊戦リーグ", "ソウル、タイトル戦"),
    "big5": ("林海峰", "第十二屆中環盃圍棋賽", "許功蓋對周俊勳"),
    "cp949": ("조훈현", "제십오기 왕위전 도전기", "서봉수 구단 대국"),
    "latin-1": ("Schlüter", "Café tournament à Genève", "Große Prüfung"),
    "utf-8": ("井山裕太", "Café", "조훈현"),
    "euc_jp": ("坂田栄男", "第十五期本因坊戦リーグ", "タイトル戦"),
    "utf-16": ("坂田栄男", "第十五期", "タイトル戦"),
}


@pytest.mark.parametrize(
    ("charset", "declared"),
    [(charset, True) for charset in NAMES]
    + [(charset, False) for charset in NAMES if charset != "euc_jp"],  # which looks like GBK
)
def test_charsets(charset, declared):
    black, event, white = NAMES[charset]
    said = {"cp932": "Shift_JIS", "gb18030": "GB2312", "cp949": "euc-kr"}.get(charset, charset)
    front = f"CA[{said}]" if declared else ""
    raw = f"(;{front}PB[{black}]EV[{event}]PW[{white}];B[aa];W[bb])".encode(charset)
    game = only(raw)
    assert (game.black, game.event, game.white) == (black, event, white)
    assert letters(game) == "aa bb"


def test_charsets_that_lie():
    names = NAMES["gb18030"]
    for said in ("UTF-8", "rot13", "zlib", "nonsense", "utf-16", "us-ascii"):
        assert charset_of(f"(;CA[{said}]PB[{names[1]}]".encode("gb18030")) == "gb18030"
    assert charset_of("(;CA[ISO-8859-1]PB[井山裕太]".encode()) == "utf-8"
    assert charset_of(b"(;CA[ISO-8859-1]PB[\xc4\xf4\xce\xc0]") == "iso8859-1"
    assert charset_of(b"(;B[aa])") == "utf-8"


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes(raw):
    for content in (raw, b"(;" + raw + b")", b"(;PB[" + raw + b"];B[aa])"):
        for game in read(content)[0]:
            assert list(read_sgf(write_sgf(game))) == [game]


# --- Beside sgfmill -----------------------------------------------------------------------------

BESIDE = (
    "C[a (;B[aa\\]) \\\\]",
    "BL[10.5]",
    "LB[aa:1][bb:2]",
    "N[]",
    "XX[y][z]",
    "KO[]",
    "C[]",
)


def random_text(rng: random.Random) -> str:
    """A tree of games' nodes, with all that the format allows around them."""
    size = rng.choice((5, 9, 19))
    names = "abcdefghijklmnopqrs"[:size]

    def space() -> str:
        return rng.choice(("", "", "", " ", "\n", "\r\n\t"))

    def node(colour: str) -> str:
        point = rng.choice(("", "tt", *(rng.choice(names) + rng.choice(names) for _ in range(8))))
        beside = "".join(rng.choice(BESIDE) for _ in range(rng.choice((0, 0, 0, 1, 3))))
        name = rng.choice((colour, colour, {"B": "Black", "W": "White"}[colour]))
        parts = [f"{name}{space()}[{point}]{space()}", beside]
        rng.shuffle(parts)
        return f";{space()}{''.join(parts)}"

    def tree(depth: int) -> str:
        nodes = "".join(node(rng.choice("BW")) for _ in range(rng.randint(1, 8)))
        below = rng.randint(2, 3) if depth < 3 and rng.random() < 0.4 else 0
        return nodes + "".join(f"({space()}{tree(depth + 1)}){space()}" for _ in range(below))

    stones = rng.choice(("", "", "AB[aa][cc]", "AW[bb:dd]AB[ae]"))
    return f"({space()};FF[4]SZ[{size}]KM[0.5]PB[Ann \\] B]{stones}{tree(0)})"


def damaged(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(text) + 1)
        cut = rng.choice((0, 1, 1, 5))
        text = text[:place] + rng.choice(("", "", *"()[];\\BWa \n")) + text[place + cut :]
    return text


def theirs(text: str) -> tuple[int, list[tuple[int, int]]] | None:
    """The size and the moves that sgfmill sees in the first game; None where it sees none."""
    try:
        game = sgf.Sgf_game.from_bytes(text.encode())
        size = game.get_size()
        nodes = list(game.get_main_sequence())
        moves = []
        for place, node in enumerate(nodes):
            colour, point = node.get_move()
            if place and node.has_setup_stones():
                return None
            if place == 0:
                node.get_setup_stones()
            if colour is not None:
                row, column = point or (None, None)
                action = size * size if row is None else (size - 1 - row) * size + column
                moves.append(("bw".index(colour), action))
    except ValueError:
        return None
    return (size, moves) if size in SIZES else None


def has_liberties(text: str) -> bool:
    """Texts that only sgfmill or only kedge accepts, on purpose."""
    try:
        nodes = list(sgf_grammar.main_sequence_iter(sgf_grammar.parse_sgf_game(text.encode())))
    except ValueError:
        return False
    doubled = any(len(node.get("B", []) + node.get("W", [])) > 1 for node in nodes)
    late = any(name in node for node in nodes[1:] for name in ("AB", "AW", "AE", "SZ", "GM"))
    values = [value for name in ("SZ", "AB", "AW", "AE") for value in nodes[0].get(name, [])]
    odd = any(not value.replace(b":", b"").isalnum() for value in values)
    return doubled or late or odd or "GM" in nodes[0] or len(nodes[0].get("SZ", [0])) > 1


def test_main_lines_are_those_of_sgfmill():
    rng = random.Random(1)
    seen = {True: 0, False: 0}
    for number in range(2500):
        text = random_text(rng)
        if number % 3:
            text = damaged(text, rng)
        if has_liberties(text):
            continue
        games, report = read(text)
        expected = theirs(text)
        seen[expected is None] += 1
        if expected is None:
            assert not games or report.broken, text
        else:
            size, moves = expected
            game = games[0]
            assert game.size == size, text
            assert [(game.mover(i), int(move)) for i, move in enumerate(game.moves)] == moves, text
            assert report.broken == [] or report.broken[0].number > 1, text
    assert min(seen.values()) > 300


# --- Writing ------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1).filter(
    lambda text: text != "?"
)
NAME = st.none() | TEXT


@st.composite
def games(draw: st.DrawFn) -> GoGame:
    size = draw(st.integers(2, 19))
    points = st.integers(0, size * size - 1)
    moves = draw(st.lists(st.integers(0, size * size), max_size=40))
    stones = draw(st.sets(points, max_size=4))
    black = draw(st.sets(st.sampled_from(sorted(stones)))) if stones else set()
    colours = st.none() | st.lists(st.integers(0, 1), min_size=len(moves), max_size=len(moves))
    chosen = draw(colours)
    return GoGame(
        np.array(moves, np.int16),
        None if chosen is None else np.array(chosen, np.uint8),
        size,
        draw(st.none() | st.integers(-120, 120).map(lambda n: n / 2)),
        draw(NAME),
        draw(st.sampled_from((0, 2, 9))),
        tuple(sorted(black)),
        tuple(sorted(stones - black)),
        draw(st.sampled_from(("?", "0", "B+R", "W+0.5", "B+", "Void", "W+T"))),
        draw(NAME),
        draw(NAME),
        draw(NAME),
        draw(NAME),
        draw(st.sampled_from((None, "1999", "1999-12", "2016-02-29"))),
        draw(NAME),
        draw(NAME),
    )


@given(games(), st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=30))
@settings(max_examples=200, deadline=None)
def test_round_trips(game, comment):
    notes = [MoveNote(comment, {0: "A:]\\"}, (1, 2))] * (len(game) > 0)
    text = write_sgf(game, notes)
    again = only(text)
    if again.ai:  # told by names
        assert not game.ai
    else:
        assert again == game
    theirs = sgf.Sgf_game.from_bytes(text.encode())
    root = theirs.get_root()
    assert theirs.get_size() == game.size
    assert theirs.get_charset() == "UTF-8"
    for name, value in (("PB", game.black), ("EV", game.event), ("KM", game.komi)):
        assert (root.get(name) if root.has_property(name) else None) == value
    moves = [node.get_move() for node in theirs.get_main_sequence()[1:]]
    expected = [
        (
            "bw"[game.mover(i)],
            None if m == game.size**2 else (game.size - 1 - m // game.size, m % game.size),
        )
        for i, m in enumerate(game.moves.tolist())
    ]
    assert moves == expected
    if notes:
        node = theirs.get_main_sequence()[1]
        assert (node.get("C") if comment else "") == comment
        assert node.get("LB") == [((game.size - 1, 0), "A:]\\")]
        assert len(node.get("TR")) == 2


def test_what_sgfmill_writes():
    theirs = sgf.Sgf_game(13, encoding="UTF-8")
    theirs.root.set("PB", "吴清源 [x]")
    theirs.root.set_setup_stones({(0, 0), (12, 12)}, {(5, 5)})
    for colour, move in (("b", (2, 3)), ("b", None), ("w", (12, 0))):
        theirs.extend_main_sequence().set_move(colour, move)
    game = only(theirs.serialise())
    assert game.black == "吴清源 [x]"
    assert game.black_stones == (12, 12 * 13)
    assert game.white_stones == (7 * 13 + 5,)
    assert game.moves.tolist() == [10 * 13 + 3, 169, 0]
    assert game.colours.tolist() == [0, 0, 1]
    board, plays = sgf_moves.get_setup_and_moves(sgf.Sgf_game.from_string(write_sgf(game)))
    assert plays == [("b", (2, 3)), ("b", None), ("w", (12, 0))]
    assert board.get(5, 5) == "w"
    assert sgf_properties.serialise_go_point((12, 0), 13) == b"aa"


def test_variations_and_glyphs():
    game = GoGame(np.array([0, 1, 361, 3], np.int16), black="x")
    notes = [MoveNote("so"), MoveNote("?", glyph="?", line=(20, 21, 361)), MoveNote(glyph="!")]
    notes.append(MoveNote(glyph="??", line=(40,)))
    text = write_sgf(game, notes, annotator="me")
    assert only(text) == game
    theirs = sgf.Sgf_game.from_string(text)
    assert theirs.root.get("AN") == "me"
    first, second, third, fourth = theirs.get_main_sequence()[1:]
    assert (second.get("BM"), third.get("TE"), fourth.get("BM")) == (1, 1, 2)
    line, end = first[1], first[1][0][0]
    assert [line.get_move(), end.get_move()] == [("w", (17, 1)), ("w", None)]
    assert third[1].get_move() == ("w", (16, 2))


@pytest.mark.parametrize("depth", [10, 30_000])
def test_deep_variations(depth):
    text = "(;SZ[9]" + "(;B[aa]" * depth + ")" * depth + ")"
    assert len(only(text)) == depth


def test_stones_over_and_over():
    start = time.process_time()
    _, report = read("(;AB" + "[aa:ss]" * 100_000 + ")")
    assert [one.reason for one in report.broken] == ["more than 10000 setup stones"]
    assert time.process_time() - start < 2.0


def test_kinds_of_broken_games():
    broken = [f"(;SZ[{size}])" for size in (20, 21, 22)] + ["(;GM[3])", "(;SZ[9];B[zz])"]
    _, report = read("\n".join(broken))
    assert report.kinds == {
        "…×… board; only square boards of … to … lines are read": 3,
        "not Go: game type …": 1,
        "move …: … is not a point of a …×… board": 1,
    }
    for number in range(300):
        report.add_broken(1, "here", "x" * number)
    assert len(report.kinds) <= 101
    assert sum(report.kinds.values()) == 305


def test_more_notes_than_moves():
    with pytest.raises(InputError, match="2 notes for 1 move"):
        write_sgf(GoGame(np.zeros(1, np.int16)), [MoveNote(), MoveNote()])


def test_patterns_that_old_pythons_match_as_well():
    """Before 3.11.5 a possessive group ends where its last attempt failed, unless it is atomic."""

    def possessive(parsed):
        for op, content in parsed:
            parts = content if isinstance(content, tuple) else (content,)
            if op is _constants.POSSESSIVE_REPEAT:
                yield [one for one, _ in parts[2]]
            for part in parts:
                for inner in part if isinstance(part, list) else [part]:
                    if isinstance(inner, _parser.SubPattern):
                        yield from possessive(inner)

    atoms = (_constants.ATOMIC_GROUP, _constants.IN)
    named = {**vars(reading), **vars(spaces)}
    patterns = [value.pattern for value in named.values() if isinstance(value, re.Pattern)]
    found = [ops for pattern in patterns for ops in possessive(_parser.parse(pattern))]
    assert found
    assert all(len(ops) == 1 and ops[0] in atoms for ops in found)

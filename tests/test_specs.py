"""The spec parser: what it reads, what it says of what it cannot read, and that it never breaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.errors import InputError
from kedge.specs import Spec, build, parse


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("maia-1900", Spec("maia-1900")),
        (" rm+ ", Spec("rm+")),
        ("blotto(coins=10,fields=3)", Spec("blotto", (), {"coins": 10, "fields": 3})),
        (
            "puct( maia-1900(temperature=0.3) , c_puct=2 )",
            Spec("puct", (Spec("maia-1900", (), {"temperature": 0.3}),), {"c_puct": 2}),
        ),
        (
            "sparta(hanabi, lambda=1e-3, greedy=true, seed=none)",
            Spec("sparta", (Spec("hanabi"),), {"lambda": 1e-3, "greedy": True, "seed": None}),
        ),
        ("net('a \"b\"')", Spec("net", ('a "b"',))),
        ('net("a file.onnx", -2, inf)', Spec("net", ("a file.onnx", -2, float("inf")))),
    ],
)
def test_reads(text, spec):
    assert parse(text) == spec
    assert parse(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a spec is empty; give a name"),
        ("a(", "ends too early"),
        ("a(b=)", r"unexpected '\)' at character 5"),
        ("a(1 2)", "unexpected '2' at character 5"),
        ("a)b", r"unexpected '\)' at character 2"),
        ("a(b=1, 2)", "2 must come before key=value arguments"),
        ("a(b=1, b=2)", "b is set twice"),
        ("a(£)", "unexpected '£' at character 3"),
        ("a(" * 50 + ")" * 50, "nested deeper"),
    ],
)
def test_says_what_is_wrong(text, said):
    with pytest.raises(InputError, match=said):
        parse(text)


@given(st.text(alphabet="ab1.-e(),=\"' \n£λ", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        spec = parse(text)
    except InputError as error:
        spec, said = None, str(error)
    if spec is None:
        assert "\n" not in said
    else:
        assert parse(str(spec)) == spec


def test_makers_get_the_arguments_of_a_spec():
    def blotto(coins=10, lam=0.1):
        return coins, lam

    assert build("game", blotto, parse("blotto(3, lambda=2)")) == (3, 2)
    with pytest.raises(InputError, match=r"has no parameter 'fields'; it takes coins, lambda$"):
        build("game", blotto, parse("blotto(fields=3)"))
    with pytest.raises(InputError, match=r"too many values without a name; .*lambda$"):
        build("game", blotto, parse("blotto(1, 2, 3)"))


@pytest.mark.parametrize(
    "text",
    ["./net.pb.gz", "/models/net.pb.gz(temperature=2)", '"a net.pb"(temperature=2)', '"a net.pb"'],
)
def test_names_may_be_paths(text):
    spec = parse(text)
    assert spec.name.endswith((".pb", ".pb.gz"))
    assert str(spec) == text
    assert parse(str(spec)) == spec


def test_a_quoted_anchor():
    assert parse('puct("a net.pb", c=1)').args == ("a net.pb",)
    assert parse('puct("a net.pb"(temperature=2))').args[0].kwargs == {"temperature": 2}

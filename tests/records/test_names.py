import pytest

from kedge import records


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("GoTable", "GoArrays"),
        ("Position", "ChessPosition"),
        ("encode_positions", "encode_chess_positions"),
        ("go_table", "go_arrays"),
        ("maia", "maia_filter"),
        ("positions", "chess_positions"),
        ("read_games", "read_chess_games"),
    ],
)
def test_old_names_still_work_and_warn(old, new):
    with pytest.warns(DeprecationWarning, match=rf"{old} is deprecated; use kedge.records.{new}"):
        assert getattr(records, old) is getattr(records, new)
    assert old not in records.__all__


def test_unknown_names_are_errors():
    with pytest.raises(AttributeError, match="no attribute 'read_gams'"):
        records.read_gams  # noqa: B018

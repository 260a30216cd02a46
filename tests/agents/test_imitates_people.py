"""Players know whether their anchor is a model of people."""

import pytest

from kedge.agents import make_player


@pytest.mark.parametrize(
    ("spec", "game", "is_human"),
    [
        ("chess", "chess", True),
        ("puct(go, playouts=5)", "go", True),
        ("diplomacy(temperature=0.5)", "diplomacy", True),
        ("searchbot(diplomacy)", "diplomacy", True),
        ("best-response", "diplomacy", True),
        ("hanabi", "hanabi", True),
        ("sparta", "hanabi", True),
        ("uniform", "chess", False),
        ("puct(uniform)", "chess", False),
        ("pikl-hedge(uniform-orders)", "diplomacy", False),
        ("diplomacy-bots", "diplomacy", False),
        ("pikl-hedge(diplomacy-bots)", "diplomacy", False),
        ("sparta(uniform-hanabi)", "hanabi", False),
        ("conventions", "hanabi", False),
        ("sparta(hanabi-smartbot)", "hanabi", False),
    ],
)
def test_of_a_spec(spec, game, is_human):
    assert make_player(spec, game).imitates_people == is_human


def test_a_user_s_model_imitates_people(go_model):
    assert make_player(f"puct({go_model})", "go").imitates_people

from importlib import import_module
from typing import Any

#: The public names, by the module that defines them. __init__.pyi repeats them for type checkers.
_NAMES = """
kedge.games                  load_game
kedge.games.normal_form      NormalFormGame exploitability residual
kedge.catalogue              GameEntry
kedge.regularize             forward_kl reverse_kl kl_divergence
kedge.search.regret          RegretMatching Hedge PiKLHedge DiLPiKL MMD Oracle Iterate
kedge.search.regret          solve iterates batch_iterates qre
kedge.records                read_chess_games read_go_games read_diplomacy_games
kedge.records                read_hanabi_games ReadReport
kedge.agents                 make_agent make_player Player Analysis
kedge.agents.dial            dial strongest
kedge.evaluation.estimation  fit_lambda LambdaFit
kedge.errors                 InputError
"""
__doc__ = f"""Players that are strong and still play like people: search toward a human anchor.

>>> import kedge
>>> kedge.dial("chess", 1).spec
'puct(chess(elo=1500), c_puct=0.5, playouts=50, temperature=1)'

These are the public names. They are fetched when first used: ``import kedge`` costs nothing.
{_NAMES}"""
_HOMES = {
    name: home for home, *names in map(str.split, _NAMES.strip().splitlines()) for name in names
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kedge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

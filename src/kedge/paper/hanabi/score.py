"""Appendix L: the score of search over a human model in Hanabi."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from kedge.evaluation.hanabi.selfplay import TableGame, standing
from kedge.evaluation.prediction import mean_by_game
from kedge.experiments import Column, Experiment, Report, Table
from kedge.experiments.hanabi.selfplay import SelfPlay, bomb_note, scores_alone, table_games
from kedge.games.hanabi import Bomb
from kedge.paper.hanabi.agents import CAVEAT, HanabiTable
from kedge.paper.hanabi.figures import draw_scores
from kedge.paper.hanabi.published import (
    EXACT_SPARTA,
    IL,
    IL_SCORES,
    SCORE_LAMBDAS,
    SCORES,
    Measured,
    named,
)
from kedge.paper.table_parts import beside_paper, titled

#: One player, with IL as partner; both players; or nobody.
Searchers = Literal["1p", "2p", "none"]


@dataclass(frozen=True)
class Cell:
    """One figure of the table: who searches, at which λ, and whether play is greedy."""

    searchers: Searchers
    greedy: bool
    lam: float
    is_exact: bool = False
    """Whether beliefs are exact, whatever the table's `belief`."""

    @property
    def label(self) -> str:
        exact = ", exact beliefs" if self.is_exact else ""
        return f"{self.searchers}{'-G' if self.greedy else ''} {named(self.lam)}{exact}"

    @property
    def raw(self) -> "Cell":
        """The cell in which nobody searches."""
        return Cell("none", self.greedy, IL)

    @property
    def paper(self) -> Measured | None:
        if self.is_exact:
            return EXACT_SPARTA
        if self.searchers == "none":
            return IL_SCORES[self.greedy]
        return SCORES[self.searchers, self.greedy].get(self.lam)


@dataclass(frozen=True, kw_only=True)
class HanabiGames(HanabiTable):
    """Base of the tables on games that agents play together."""

    games: int = 100
    """Games per cell; the paper has 4,000."""
    bomb: Bomb = "stack"
    """Score of a game whose last life is lost: the cards played, as in our records, or zero, as in
    the paper."""
    chunk: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tables()

    @abstractmethod
    def cells(self) -> list[Cell]:
        """The cells to play, including the `raw` cell of each."""

    def tables(self) -> dict[str, SelfPlay]:
        """The experiments by cell; all cells share the same decks."""
        return {cell.label: self._table(cell) for cell in self.cells()}

    def _table(self, cell: Cell) -> SelfPlay:
        belief = "exact" if cell.is_exact else None
        searcher = self.agent(cell.lam, greedy=cell.greedy, belief=belief)
        partner = searcher if cell.searchers == "2p" else self.agent(IL, greedy=cell.greedy)
        return SelfPlay(
            agents=(searcher, partner),
            bomb=self.bomb,
            games=self.games,
            chunk=self.chunk,
            device=self.device,
            dtype=self.dtype,
            seed=self.seed,
        )

    def parts(self) -> Mapping[str, Experiment]:
        return self.tables()

    def gist(self, result: dict[str, Any]) -> dict[str, Any]:
        return scores_alone(result) if "played" in result else result

    def scores(self, results: Mapping[str, dict[str, Any]]) -> dict[Cell, dict[str, Any]]:
        """Each cell's score, and its gain over the imitation policy with the same decks."""
        parts = self.by_part(results)
        played = {cell: table_games(parts[cell.label]) for cell in self.cells()}
        return {
            cell: {
                **standing(games),
                **(_NO_GAIN if cell.lam == IL else _gain(games, played[cell.raw])),
                **beside_paper(cell.paper),
            }
            for cell, games in played.items()
        }

    def game_notes(self) -> list[str]:
        """The notes under each of these tables."""
        return [
            f"{self.games:,} games of two players a cell, by the same decks in all; the paper has "
            f"4,000. ± is one standard error; differences are paired by deck.",
            f"{bomb_note(self.bomb)}; where our people played, what was built; in the paper, 0",
            self.search_note(),
        ]


@dataclass(frozen=True, kw_only=True)
class HanabiScore(HanabiGames):
    """Appendix L: the score of piKL-SPARTA at each λ, of one player or both, sampled or greedy."""

    name: ClassVar[str] = "hanabi-score"

    lambdas: tuple[float, ...] = SCORE_LAMBDAS
    exact: bool = True
    """Whether to play SPARTA with exact beliefs too: it takes longer."""

    def cells(self) -> list[Cell]:
        cells: list[Cell] = []
        for greedy in (False, True):
            cells += [Cell("1p", greedy, lam) for lam in self.lambdas]
            cells += [Cell("2p", greedy, lam) for lam in self.lambdas]
            cells.append(Cell("none", greedy, IL))
        return [*cells, *([Cell("1p", True, 0.0, is_exact=True)] if self.exact else [])]

    def report(self, results: Mapping[str, dict[str, Any]]) -> Report:
        rows = [
            {
                "searchers": cell.searchers,
                "play": "greedy" if cell.greedy else "sampled",
                "agent": named(cell.lam),
                "lambda": cell.lam,
                "is_exact": cell.is_exact,
                "belief": None if cell.lam == IL else "exact" if cell.is_exact else self.belief,
                **score,
            }
            for cell, score in self.scores(results).items()
        ]
        return Report(
            title=titled(self),
            table=Table(
                [
                    Column("searchers", "who searches"),
                    Column("play"),
                    Column("agent"),
                    Column("belief", "beliefs"),
                    Column("games", format=","),
                    Column("mean", "score", ".2f", error="se"),
                    Column("paper", "paper score", ".2f", error="paper_se"),
                    Column("gain", "against IL", "+.2f", error="gain_se"),
                    Column("perfect", format=","),
                    Column("bombs", format=","),
                ],
                rows,
            ),
            notes=[
                CAVEAT,
                "1p: one searches, the other plays as IL; 2p: both search, each as if the other "
                "played as IL.",
                *self.game_notes(),
            ],
            draw=lambda figure: draw_scores(figure, rows),
            figure_size=(9.0, 3.8),
        )


_NO_GAIN = {"gain": None, "gain_se": None}


def _gain(games: Sequence[TableGame], raw: Sequence[TableGame]) -> dict[str, float]:
    """The mean difference of scores, paired by deck."""
    off = np.array([game.score - other.score for game, other in zip(games, raw, strict=True)])
    mean, error = mean_by_game(np.ones(len(off)), off)
    return {"gain": mean, "gain_se": error}

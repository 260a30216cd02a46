"""An agent's policy in a position that a client describes."""

import asyncio

import numpy as np

from kedge.errors import InputError
from kedge.interfaces.web.pages.page_game import PageGame
from kedge.interfaces.web.pages.thoughts import StopFlag, Thought
from kedge.interfaces.web.play.agents.agent_pool import AgentPool
from kedge.interfaces.web.play.game.opening import new_session
from kedge.interfaces.web.play.game.seats import checked_spec, seated
from kedge.interfaces.web.play.game.session import Session
from kedge.interfaces.web.schemas import PolicyQuestion, SeatIn
from kedge.specs import Spec


async def agent_policy(
    question: PolicyQuestion, game: PageGame, agents: AgentPool, stop: StopFlag
) -> Thought:
    """Return the analysis of the agent in question."""
    spec = _spec(question, game)
    rng = np.random.default_rng(question.seed)
    # In a thread: there may be many turns.
    session = await asyncio.to_thread(new_session, game, question.setup, None, question.turns, rng)
    seat = _seat(session, question.seat)
    thought = None
    async for decision in agents.think(session, {seat: spec}, stop):
        thought = decision.thought
    if stop.stopped:
        raise InputError("the client left")
    if thought is None:
        raise InputError("there is no choice to analyse in this position")
    return thought


def _spec(question: PolicyQuestion, game: PageGame) -> Spec:
    """The spec of the agent: as given, or at a setting of the dial."""
    if question.agent is None:
        x = 0.5 if question.dial is None else question.dial
        return seated(game, SeatIn(dial=x, settings=question.settings)).required_agent()
    if question.dial is not None:
        raise InputError("agent and dial: give only one of them")
    return checked_spec(question.agent)


def _seat(session: Session, seat: int | None) -> int:
    """The seat that decides: `seat`, or by default the first to move."""
    deciding = session.deciding()
    if not deciding:
        raise InputError("the game is over")
    if seat is not None and seat not in deciding:
        raise InputError(f"seat {seat} is not to move")
    return deciding[0] if seat is None else seat

// The analyses by turn and seat, and the choice among them.
import { html, useEffect, useState } from "../../vendor/preact-htm.js";
import { seating } from "../choices/agent_choice.js";
import { movesOf } from "../games.js";
import { api } from "../lib/api.js";

// The archive with one more analysis, in place of the last at its turn and seat.
export const withThought = (known, thought) =>
  ({ ...known, [thought.turn]: { ...known[thought.turn], [thought.seat]: thought } });

// Drop the analyses of turns that were undone.
export const upTo = (known, count) => Object.fromEntries(Object.entries(known).filter(([turn]) => turn <= count));

// The decisions at the shown position, each { turn, seat, name, thought }, the latest first; `advised` are the seats to advise.
export function decisions(session, shownSession, advised, archive) {
  const turn = shownSession.turns.length;
  const at = (seats) => seats.map((seat) => ({
    turn, seat, name: session.seats[seat].name, thought: archive[turn]?.[seat],
  }));
  if (shownSession.isEarlier) return at(shownSession.due);
  const underWay = at(session.deciding.filter((seat) => !session.seats[seat].human)).filter(({ thought }) => thought);
  const made = session.thoughts.toSorted((first, second) => second.turn - first.turn).map((thought) => {
    const { turn, seat } = thought;
    return { turn, seat, name: `${session.seats[seat].name}, ${session.turns[turn]?.name}`, thought };
  });
  return [...at(advised), ...underWay, ...made];
}

// The selected decision; after new turns, the next of the same seat; else one with an analysis.
export function selectedDecision(offered, selected) {
  return offered.find((decision) => same(decision, selected)) || offered.find((decision) => decision.seat === selected?.seat)
    || offered.find((decision) => decision.thought) || offered[0];
}

const same = (decision, other) => decision.turn === other?.turn && decision.seat === other?.seat;

// Ask the game's agent about an earlier position, at once if `isWanted`.
// Returns whether the request is open, and ask() if there is no analysis yet.
export function useQuestion(session, decision, { possible, isWanted, onThought, onTrouble }) {
  const [asking, setAsking] = useState(null);
  const open = Boolean(possible && decision && !decision.thought);
  const isAsking = Boolean(decision && asking && same(decision, asking));
  const ask = () => {
    setAsking(decision);
    api.policy(questionAt(session, decision))
      .then(onThought, (error) => onTrouble(error.message))
      .finally(() => setAsking((now) => (now === decision ? null : now)));
  };
  useEffect(() => { if (open && isWanted && !isAsking) ask(); }, [open, isWanted, decision?.turn, decision?.seat]);
  return [isAsking, open && !isAsking ? ask : null];
}

function questionAt(session, { turn, seat }) {
  const { game, setup, seats } = session;
  const { human, ...agent } = seating(seats.find((other) => !other.human) || seats[0]);
  return { game, setup, turns: movesOf(session).slice(0, turn), seat, ...agent };
}

// The choice among several decisions.
export function Whose({ offered, decision, onSelect }) {
  return html`
    <select aria-label="Whose decision" value=${offered.findIndex((each) => same(each, decision))}
      onChange=${(event) => onSelect(offered[event.target.value])}>
      ${offered.map(({ turn, seat, name }, index) => html`<option key=${`${turn}/${seat}`} value=${index}>${name}</option>`)}
    </select>`;
}

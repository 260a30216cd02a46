// The shown position: the current one, or an earlier one.
import { useEffect, useMemo, useRef, useState } from "../../vendor/preact-htm.js";
import { api } from "../lib/api.js";

// Returns [the session as it stood, show(turn)].
export function useHistory(session, onTrouble) {
  const [earlier, setEarlier] = useState(null);
  const latest = useRef(null); // the turn to show
  const count = session?.turns.length ?? 0;
  // Positions of undone turns no longer exist.
  useEffect(() => { if (earlier && earlier.turn >= count) setEarlier(null); }, [count]);
  const show = (turn) => {
    latest.current = turn;
    if (turn >= count) return setEarlier(null);
    api.at(session.id, turn, session.eyes).then(
      // After fast steps, show only the last one.
      (position) => { if (latest.current === turn) setEarlier(position); },
      (error) => onTrouble(error.message));
  };
  if (!session || !earlier || earlier.turn >= count) return [session, show];
  return [stood(session, earlier), show];
}

// While `isWanted`, the game as it stood at an analysis, if it has gone on since.
export function useBefore(session, thought, isWanted) {
  const [before, setBefore] = useState(null);
  const turn = session && thought && thought.turn < session.turns.length ? thought.turn : null;
  const way = useMemo(
    () => (turn === null ? null : JSON.stringify([session.id, session.eyes, session.turns.slice(0, turn)])),
    [session, turn]);
  useEffect(() => {
    if (!isWanted || way === null || before?.way === way) return;
    api.at(session.id, turn, session.eyes).then((position) => setBefore({ ...position, way }), () => {});
  }, [way, isWanted]);
  return isWanted && way !== null && before?.way === way ? stood(session, before) : null;
}

const stood = (session, { turn, position, due }) =>
  ({ ...session, position, due, turns: session.turns.slice(0, turn), deciding: [], thinking: [], isEarlier: true });

// The position that is looked at: that of the game, or an earlier one.
import { useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { api } from "./api.js";

// Gives [the session as it stood, how many turns were taken there, show(turn)].
export function useHistory(session, onTrouble) {
  const [earlier, setEarlier] = useState(null);
  const asked = useRef(null);
  const count = session?.turns.length ?? 0;
  // Turns that are undone have no positions any more.
  useEffect(() => { if (earlier && earlier.turn >= count) setEarlier(null); }, [count]);
  const show = (turn) => {
    asked.current = turn;
    if (turn >= count) return setEarlier(null);
    api.at(session.id, turn, session.eyes).then(
      // Who steps fast is only shown where they stop.
      (found) => { if (asked.current === turn) setEarlier(found); },
      (error) => onTrouble(error.message));
  };
  if (!session || !earlier || earlier.turn >= count) return [session, count, show];
  return [stood(session, earlier), earlier.turn, show];
}

// While that is `wanted`, the game as it stood when an agent thought of a decision, where it has gone on since.
export function useBefore(session, thought, wanted) {
  const [found, setFound] = useState(null);
  const turn = session && thought && thought.turn < session.turns.length ? thought.turn : null;
  const way = turn === null ? null : JSON.stringify([session.id, session.eyes, session.turns.slice(0, turn)]);
  useEffect(() => {
    if (!wanted || way === null || found?.way === way) return;
    api.at(session.id, turn, session.eyes).then((told) => setFound({ ...told, way }), () => {});
  }, [way, wanted]);
  return wanted && way !== null && found?.way === way ? stood(session, found) : null;
}

const stood = (session, { turn, position, due }) =>
  ({ ...session, position, due, turns: session.turns.slice(0, turn), deciding: [], thinking: [], isEarlier: true });

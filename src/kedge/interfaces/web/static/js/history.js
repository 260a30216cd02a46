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
  const then = {
    ...session, position: earlier.position, turns: session.turns.slice(0, earlier.turn), due: earlier.due,
    deciding: [], thinking: [], isEarlier: true,
  };
  return [then, earlier.turn, show];
}

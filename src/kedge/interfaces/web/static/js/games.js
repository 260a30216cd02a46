// The games that the page can draw: each has a board and the words around it.
//
// A board's module exports
//   Board     what is played on; it is given { session, look, thought, hovered, onHover, onPlay, mine, flipped },
//             and the seat from which it is looked at; covered until who shares the screen calls onLook
//   number    (ply, session) => what stands before a turn in the list of them
//   setup     what a new game is told unless Setup changes it; Setup: { setup, onChange }
// and where it has them: label (as number, where that says too little by itself), Extra (below the bars),
// seatNames(setup), flips, resigns, heir (an agent goes on for who resigns), undoes (false if it does not), hides (seats
// do not see the same), anchor (what is called people elsewhere), sheet (two columns of moves), and
//   Panel          what stands first beside the board; they share { draft, onDraft }, a move that is being made
//   status         (session, mine) => whose turn it is, in words
//   people         { name, label, least, most, step, usual }: a number behind the dial that a new game asks for
//   peopleOnly     (setup) => why no agent can play, if none can
//   caveat         (setup) => what to know of agents there
//   severalPeople  whether any number of people may sit at the table
// While an earlier position is looked at, `session` is the game as it stood there, its `isEarlier` is true, and
// `mine` is empty.
import * as blotto from "./boards/blotto.js";
import * as chess from "./boards/chess.js";
import * as diplomacy from "./boards/diplomacy.js";
import * as go from "./boards/go.js";
import * as hanabi from "./boards/hanabi.js";

export const GAMES = {
  chess: { title: "Chess", emblem: "♞", about: "With or without a clock, at any rating.", ...chess },
  go: { title: "Go", emblem: "⚫", about: "Against a model of professionals.", ...go },
  diplomacy: { title: "Diplomacy", emblem: "⚔", about: "Seven powers without a word; take any of them.", ...diplomacy },
  hanabi: { title: "Hanabi", emblem: "✺", about: "Together, each seeing all cards but their own.", ...hanabi },
  blotto: { title: "Blotto", emblem: "▥", about: "Troops on fields, all at once.", ...blotto },
};

// A turn as it is spoken of, such as "12… Nf6".
export function turnName(ply, session) {
  const { label, number } = GAMES[session.game];
  return `${(label || number)(ply, session)} ${session.turns[ply].name}`.trim();
}

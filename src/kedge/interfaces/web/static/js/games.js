// The games that the page can draw: each has a board and the words around it.
//
// A board's module exports
//   Board     what is played on; it is given { session, look, thought, hovered, onHover, onPlay, mine, flipped },
//             and the seat from which it is looked at; covered until who shares the screen calls onLook
//   number    (ply, session) => what stands before a turn in the list of them
//   setup     what a new game is told unless Setup changes it; Setup: { setup, onChange }
// and where it has them: Extra (below the bars), seatNames(setup), flips, resigns, undoes (false if
// it does not), hides (seats do not see the same), anchor (its name, if it is not people), and
// peopleOnly(setup), which says why no agent can play, if none can.
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

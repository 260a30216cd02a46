// The list of moves; a click shows the position.
import { html, useEffect, useRef } from "../../vendor/preact-htm.js";
import { GAMES } from "../games.js";

// `shown` is the number of turns before the shown position; `marks` are a review's, by ply.
export function Score({ session, shown, marks, onShow }) {
  const list = useRef(null);
  const count = session.turns.length;
  useEffect(() => {
    const row = list.current?.querySelector("[aria-current]")?.closest("li");
    // Scroll only the list, not the page.
    if (row) list.current.scrollTop = row.offsetTop - list.current.clientHeight / 2;
  }, [shown, count]);
  const go = (turn) => onShow(Math.max(0, Math.min(count, turn)));
  const key = (event) => {
    const steps = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: count };
    if (!(event.key in steps)) return;
    event.preventDefault();
    go(steps[event.key]);
    list.current.focus(); // not the move that was left
  };
  const { number, sheet } = GAMES[session.game];
  const move = (ply) => ply < 0 ? html`<span class="move">…</span>` : html`
    <button type="button" tabindex="-1" class=${`move ${MARKS[marks?.[ply]] || ""}`}
      aria-current=${ply === shown - 1 ? "true" : undefined} onClick=${() => go(ply + 1)}>
      ${session.turns[ply].name}${marks?.[ply] || ""}</button>`;
  return html`
    <section class="turns card" aria-label="What was played">
      <ol ref=${list} tabindex="0" class=${sheet ? "sheet" : ""} onKeyDown=${key}
        aria-label="Moves; step through them with left and right">
        ${rows(session, sheet).map((row) => html`
          <li key=${row[0]}><b>${number(row[0], session)}</b>${row.map(move)}</li>`)}
      </ol>
    </section>`;
}

// Buttons to step through the game, around the status.
export function Steps({ count, shown, onShow, children }) {
  const step = (name, sign, turn) => html`
    <button type="button" class="step" aria-label=${name} title=${name} onClick=${() => onShow(turn)}
      disabled=${turn < 0 || turn > count || turn === shown}>${sign}</button>`;
  return html`
    <div class="word" role="group" aria-label="Step through the game">
      ${step("First position", "«", 0)}${step("Back", "‹", shown - 1)}
      <div>${children}</div>
      ${step("Forward", "›", shown + 1)}${step("Last position", "»", count)}
    </div>`;
}

// From the mildest to the worst.
export const MARKS = { "!": "good", "?": "mistake", "??": "blunder" };

// Plies by row: two in a sheet, −1 if the first side did not move.
function rows(session, sheet) {
  const plies = session.turns.map((_, ply) => ply);
  if (!sheet) return plies.map((ply) => [ply]);
  const table = [];
  for (const ply of plies) {
    const second = session.turns[ply].seats[0] === 1;
    if (second && table.length) table.at(-1).push(ply);
    else table.push(second ? [-1, ply] : [ply]);
  }
  return table;
}

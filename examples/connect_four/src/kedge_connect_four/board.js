// Connect Four: click a column, or press its number.
import { html, useEffect } from "/static/vendor/preact-htm.js";
import { Side } from "/static/js/side.js";

export const setup = {};
export const resigns = true;
export const sheet = true;
export const anchor = "chance"; // no model of people: the anchor is uniform
export const number = (ply) => (ply % 2 ? "" : `${ply / 2 + 1}.`);
export const label = (ply) => `${Math.floor(ply / 2) + 1}${ply % 2 ? "…" : "."}`;

export function Board({ session, thought, hovered, onPlay, mine }) {
  const { columns, rows, legal, last } = session.position;
  const width = columns.length;
  const canPlay = (column) => mine.length > 0 && legal.includes(String(column + 1));
  const play = (column) => canPlay(column) && onPlay(String(column + 1));

  useEffect(() => {
    const pressed = (event) => {
      if (!event.target.closest("input, select, textarea") && /^[1-9]$/.test(event.key)) play(Number(event.key) - 1);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });

  const share = (column) => thought?.rows.find((row) => row.move === String(column + 1))?.policy || 0;
  return html`
    <div class="connect-four">
      <${Side} session=${session} seat=${1} />
      <svg viewBox=${`0 0 ${width} ${rows + 0.6}`} role="group" aria-label="Board">
        <rect class="rack" y="0.6" width=${width} height=${rows} rx="0.2" />
        ${columns.map((discs, column) => html`
          <g key=${column} class=${canPlay(column) ? "column open" : "column"}
            role="button" tabindex=${canPlay(column) ? 0 : -1} aria-disabled=${!canPlay(column)}
            aria-label=${`Column ${column + 1}, ${discs.length} of ${rows} discs`}
            onClick=${() => play(column)}
            onKeyDown=${(event) => (event.key === "Enter" || event.key === " ") && play(column)}>
            <rect class=${hovered === String(column + 1) ? "lane hovered" : "lane"}
              x=${column} width="1" height=${rows + 0.6} />
            <rect class="share" x=${column + 0.1} y=${0.5 - 0.45 * share(column)} width="0.8" height=${0.45 * share(column)} />
            ${Array.from({ length: rows }, (_, row) => html`
              <circle key=${row} cx=${column + 0.5} cy=${rows - row + 0.1} r="0.42"
                class=${discs[row] === undefined ? "hole" : ["red", "yellow"][discs[row]]} />
              ${column === last && row === discs.length - 1 && html`
                <circle class="last" cx=${column + 0.5} cy=${rows - row + 0.1} r="0.16" />`}`)}
          </g>`)}
      </svg>
      <${Side} session=${session} seat=${0} />
    </div>`;
}

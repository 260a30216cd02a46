// The value of a game over its turns; a click shows the position.
import { html, useState } from "../../vendor/preact-htm.js";

// A line has its `heights`, from 0 to 1, one per position. `steps` are marked turns of the first line, `moments` the
// turns where search and people disagree, and `describe(turn)` puts a position's value into words.
export function Curve({ lines, even, steps, moments, describe, label, shown, onShow }) {
  const [{ heights }] = lines;
  const most = heights.length - 1;
  const [over, setOver] = useState(null);
  const turnAt = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(most, Math.round((most * (event.clientX - box.left)) / box.width)));
  };
  const height = (share) => 40 * (1 - share);
  const place = (turn) => (100 * turn) / Math.max(1, most);
  const points = (line) => line.heights.map((share, turn) => `${place(turn)},${height(share)}`).join(" ");
  const turn = Math.min(over ?? shown, most);
  return html`
    <figure class=${`curve ${lines.length > 1 ? "several" : ""}`}>
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label=${label}
        onPointerMove=${(event) => setOver(turnAt(event))} onPointerLeave=${() => setOver(null)}
        onClick=${(event) => onShow(turnAt(event))}>
        ${lines.map((line) => html`
          ${line.filled && html`<polygon points=${`0,40 ${points(line)} 100,40`} />`}`)}
        ${even !== undefined && html`<line class="even" x1="0" x2="100" y1=${height(even)} y2=${height(even)} />`}
        ${[...lines].reverse().map((line) => html`<polyline class=${line.kind} points=${points(line)} />`)}
        ${steps.map(({ ply, kind }) => html`
          <line class=${kind} x1=${place(ply + 1)} x2=${place(ply + 1)}
            y1=${height(heights[ply + 1])} y2=${height(heights[ply])} />`)}
        ${moments.map((ply) => html`<line class="apart" x1=${place(ply)} x2=${place(ply)} y1="0" y2="5" />`)}
        <line class="cursor" x1=${place(turn)} x2=${place(turn)} y1="0" y2="40" />
      </svg>
      <figcaption>${describe(turn)}</figcaption>
    </figure>`;
}

// An analysis: what people and search would play, side by side, as it grows.
import { html } from "../vendor/preact-htm.js";

const SHOWN = 8;
const WORKING = html` <span class="working" aria-hidden="true"></span>`;

// `onAsk` starts an analysis, `asking` says that one runs, and `isLater` that it would reveal a secret.
export function Why({ thought, title, whose, anchor = "people", hovered, onHover, extra, asking, onAsk, isLater }) {
  if (!thought) {
    return html`
      <section class="why card" aria-label="Why">
        <h2>${title}${asking && WORKING}${whose}</h2>
        ${onAsk
          ? html`<p class="line">This position has no analysis yet.</p>
            <p class="actions"><button type="button" onClick=${onAsk}>Ask kedge</button></p>`
          : html`<p class="line">${asking ? "Thinking…" : isLater ? "You can ask about this position once the game is over."
            : `Once an agent thinks about a move, this shows what ${anchor} and search would play.`}</p>`}
      </section>`;
  }
  const rows = thought.rows.slice(0, SHOWN);
  const most = Math.max(0.01, ...rows.map((row) => Math.max(row.anchor, row.policy)));
  const valued = rows.some((row) => row.q !== null);
  // Equal visits say nothing.
  const counted = rows.some((row) => row.visits !== null && row.visits !== rows[0].visits);
  const shown = rows.find((row) => same(row.move, hovered)) || rows[0];
  return html`
    <section class="why card" aria-label=${title}>
      <h2>${title}${!thought.done && WORKING}${whose}</h2>
      <dl class="facts">
        ${fact("value", thought.value, signed, "expected result for the player to move")}
        ${fact("KL", thought.kl, (v) => v.toFixed(2), `how far search is from ${anchor}, in nats`)}
        ${fact("entropy", thought.entropy, (v) => v.toFixed(2), "of what search plays, in nats")}
        ${fact("playouts", thought.playouts, (v) => v.toLocaleString(), "network evaluations")}
      </dl>
      <p class="key"><span class="people">${anchor}</span> <span class="search">search</span></p>
      <table>
        <thead>
          <tr><th>move</th><td></td><th>${anchor}</th><th>search</th>${valued && html`<th>value</th>`}${counted && html`<th class="visits">visits</th>`}</tr>
        </thead>
        <tbody>
          ${rows.map((row) => html`
            <tr key=${JSON.stringify(row.move)} tabindex="0" class=${same(row.move, hovered) ? "hovered" : ""}
              onMouseEnter=${() => onHover(row.move)} onMouseLeave=${() => onHover(null)}
              onFocus=${() => onHover(row.move)} onBlur=${() => onHover(null)}>
              <th scope="row">${row.name}</th>
              <td class="bars">
                <svg viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true">
                  <rect class="people" y="1" width=${(100 * row.anchor) / most} height="6" />
                  <rect class="search" y="9" width=${(100 * row.policy) / most} height="6" />
                </svg>
              </td>
              <td class="number people" aria-label=${anchor}>${share(row.anchor)}</td>
              <td class="number search" aria-label="search">${share(row.policy)}</td>
              ${valued && html`<td class="number" aria-label="value">${row.q === null ? "–" : signed(row.q)}</td>`}
              ${counted && html`<td class="number visits" aria-label="visits">${row.visits ?? "–"}</td>`}
            </tr>`)}
        </tbody>
      </table>
      <p class="line">${shown && shown.line.length > 1 ? shown.line.join(" ") : " "}</p>
      ${extra}
    </section>`;
}

export const same = (first, second) => JSON.stringify(first) === JSON.stringify(second);

function fact(name, value, format, meaning) {
  if (value === null || value === undefined) return null;
  return html`<div title=${meaning}><dt>${name}</dt><dd>${format(value)}</dd></div>`;
}

// Without a minus before zero.
function signed(number) {
  const text = number.toFixed(2);
  return text === "-0.00" ? "0.00" : text.replace("-", "−");
}

function share(number) {
  return `${(100 * number).toFixed(number >= 0.0995 || number === 0 ? 0 : 1)} %`;
}

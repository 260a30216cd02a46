// The dial: one slider, the numbers behind it, and what was measured there.
import { html, useEffect, useState } from "../vendor/preact-htm.js";

const WORDS = {
  elo: "rating of the people it plays like",
  c_puct: "c_puct: the lower, the farther from people",
  lambda: "λ: the lower, the farther from people",
  playouts: "playouts a move",
  rollouts: "rollouts a move",
  iterations: "iterations a turn",
  temperature: "temperature of its choice",
};
const WHOLE = new Set(["playouts", "rollouts", "iterations", "elo"]);

// `people` is the number of the anchor, and from where to where it goes.
export function Dial({ label, seat, stops, anchor = "people", people, onChange }) {
  const range = (name) => (name === people?.name ? [people.least, people.most] : [0, undefined]);
  const [x, setX] = useState(seat.dial);
  useEffect(() => setX(seat.dial), [seat.dial]);
  const id = `stops-${label.replace(/\W/g, "")}`;
  const turn = (value) => onChange({ human: seat.human, dial: value, settings: kept(seat.settings) });
  const tell = (name, value) =>
    onChange({ human: seat.human, dial: x, settings: { ...seat.settings, [name]: value } });
  return html`
    <section class="dial card" aria-label=${label}>
      <h2>${label} <span class="turned" aria-hidden="true">${Math.round(100 * x)}</span></h2>
      <div class="slider">
        <input type="range" min="0" max="1" step="0.01" list=${id} value=${x}
          aria-label=${`${label}: from ${likest(anchor)} to as strong as it gets`}
          aria-valuetext=${`${Math.round(100 * x)} of 100`}
          onInput=${(event) => setX(Number(event.target.value))}
          onChange=${(event) => turn(Number(event.target.value))} />
        <datalist id=${id}>${stops.map((stop) => html`<option value=${stop.x} />`)}</datalist>
        <div class="ends"><span>${likest(anchor)}</span><span>as strong as it gets</span></div>
      </div>
      <dl class="measured">
        <${Measured} name=${`Like ${anchor}`} found=${seat.likeness} />
        <${Measured} name="Strength" found=${seat.strength} />
      </dl>
      ${Object.keys(seat.settings).length > 0 && html`
        <p class="hint">Measured with the dial's own numbers, not with those below.</p>`}
      <details>
        <summary>The numbers behind it</summary>
        <div class="numbers">
          ${Object.entries(seat.numbers).map(([name, value]) => html`
            <label key=${name}>
              <span>${WORDS[name] || name}</span>
              <input type="number" value=${value} min=${range(name)[0]} max=${range(name)[1]}
                step=${WHOLE.has(name) ? 1 : "any"}
                onChange=${({ target }) => {
                  if (target.value === "") return;
                  const [least, most = Infinity] = range(name);
                  tell(name, Math.min(most, Math.max(least, Number(target.value))));
                }} />
            </label>`)}
          ${Object.keys(seat.settings).length > 0 && html`
            <button type="button" onClick=${() => onChange({ human: seat.human, dial: x, settings: {} })}>
              As the dial has them
            </button>`}
        </div>
        ${seat.agent && html`<p class="spec"><code>${seat.agent}</code></p>`}
      </details>
    </section>`;
}

export const likest = (anchor) => (anchor === "people" ? "like a person" : `like ${anchor}`);

// The dial moves c_puct or λ itself; what else was told stays told.
function kept(settings) {
  const { c_puct, lambda, ...others } = settings;
  return others;
}

function Measured({ name, found }) {
  if (!found.length) return html`<div><dt>${name}</dt><dd>not measured</dd></div>`;
  const drawn = found.some((one) => one.error > 0) ? found.filter((one) => one.error > 0) : found; // the others are exact
  const samples = drawn.map(({ sample, counted }) => `${sample.toLocaleString()} ${counted}`);
  return html`
    <div>
      <dt>${name}</dt>
      <dd>
        ${found.map((one) => html`
          <span class="figure" title=${one.command}>
            <strong>${figure(one)}</strong>${one.is_exact ? "" : ` at ${Math.round(100 * one.x)}`}</span>`)}
        <small>${found[0].metric}; ${[...new Set(samples)].join(" and ")}</small>
      </dd>
    </div>`;
}

function figure({ value, error, is_share: share }) {
  const [shown, spread, unit] = share ? [100 * value, 100 * error, " %"] : [value, error, ""];
  const digits = spread > 0 ? Math.max(0, Math.min(3, 1 - Math.floor(Math.log10(spread)))) : Number.isInteger(shown) ? 0 : 2;
  return `${shown.toFixed(digits)}${spread > 0 ? ` ± ${spread.toFixed(digits)}` : ""}${unit}`;
}

// The dial: one slider, the numbers behind it, and the measurements there.
import { html, useEffect, useState } from "../../vendor/preact-htm.js";
import { Hint, Words } from "./people.js";

const WORDS = {
  elo: "rating of the people it imitates",
  c_puct: "c_puct: lower is farther from people",
  lambda: "λ: lower is farther from people",
  playouts: "playouts per move",
  rollouts: "rollouts per move",
  iterations: "iterations per turn",
  temperature: "temperature of its choice",
};
const WHOLE = new Set(["playouts", "rollouts", "iterations", "elo"]);

// `people` is the setting that says whom the anchor imitates, with its choices.
export function Dial({ label, seat, stops, anchor = "people", people, onChange }) {
  const words = typeof people?.choices[0] === "string";
  const range = (name) => (name === people?.name ? [people.choices[0], people.choices.at(-1)] : [0, undefined]);
  const numbers = Object.entries(seat.numbers).filter(([name]) => !words || name !== people.name);
  const [x, setX] = useState(seat.dial);
  useEffect(() => setX(seat.dial), [seat.dial]);
  const id = `stops-${label.replace(/\W/g, "")}`;
  const turn = (value) => onChange({ human: seat.human, dial: value, settings: withoutDial(seat.settings) });
  const set = (name, value) =>
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
        <${Measured} name=${`Like ${anchor}`} figures=${seat.likeness} />
        <${Measured} name="Strength" figures=${seat.strength} />
      </dl>
      ${Object.keys(seat.settings).length > 0 && seat.likeness.length + seat.strength.length > 0 && html`
        <p class="hint">Measured with the dial's own numbers, not with those of this game.</p>`}
      <details>
        <summary>The numbers behind it</summary>
        <div class="numbers">
          ${words && html`
            <label><span>${people.label}</span>
              <${Words} people=${people} settings=${seat.settings}
                onChange=${(settings) => onChange({ human: seat.human, dial: x, settings })} /></label>
            <${Hint} people=${people} settings=${seat.settings} />`}
          ${numbers.map(([name, value]) => html`
            <label key=${name}>
              <span>${WORDS[name] || name}</span>
              <input type="number" value=${value} min=${range(name)[0]} max=${range(name)[1]}
                step=${WHOLE.has(name) ? 1 : "any"}
                onChange=${({ target }) => {
                  if (target.value === "") return;
                  const [least, most = Infinity] = range(name);
                  set(name, Math.min(most, Math.max(least, Number(target.value))));
                }} />
            </label>`)}
          ${Object.keys(seat.settings).length > 0 && html`
            <button type="button" onClick=${() => onChange({ human: seat.human, dial: x, settings: {} })}>
              Reset to the dial
            </button>`}
        </div>
        ${seat.agent && html`<p class="spec"><code>${seat.agent}</code></p>`}
      </details>
    </section>`;
}

export const likest = (anchor) => (anchor === "people" ? "like a person" : `like ${anchor}`);

// The dial sets c_puct or λ; other numbers stay.
function withoutDial(settings) {
  const { c_puct, lambda, ...others } = settings;
  return others;
}

function Measured({ name, figures }) {
  if (!figures.length) return html`<div><dt>${name}</dt><dd>not measured</dd></div>`;
  const sampled = figures.filter(({ error }) => error > 0); // the others are exact
  const samples = (sampled.length ? sampled : figures).map(({ sample, counted }) => `${sample.toLocaleString()} ${counted}`);
  return html`
    <div>
      <dt>${name}</dt>
      <dd>
        ${figures.map((measured) => html`
          <span class="figure" title=${measured.command}>
            <strong>${figure(measured)}</strong>${measured.is_exact ? "" : ` at ${Math.round(100 * measured.x)}`}</span>`)}
        <small>${figures[0].metric}; ${[...new Set(samples)].join(" and ")}</small>
      </dd>
    </div>`;
}

function figure({ value, error, is_share: share }) {
  const [shown, spread, unit] = share ? [100 * value, 100 * error, " %"] : [value, error, ""];
  const digits = spread > 0 ? Math.max(0, Math.min(3, 1 - Math.floor(Math.log10(spread)))) : Number.isInteger(shown) ? 0 : 2;
  return `${shown.toFixed(digits)}${spread > 0 ? ` ± ${spread.toFixed(digits)}` : ""}${unit}`;
}

// The people whom the anchor imitates: a number such as a rating, or a word such as a rank.
import { html } from "../../vendor/preact-htm.js";

// `people` is as the server describes it: { name, label, choices, usual, anyone, hint }.
export function People({ people, settings, onChange }) {
  const { name, label, choices, usual } = people;
  const value = settings[name] ?? usual;
  if (typeof choices[0] === "string") {
    return html`
      <label><span>${label}</span><${Words} people=${people} settings=${settings} onChange=${onChange} />
        <${Hint} people=${people} settings=${settings} /></label>`;
  }
  return html`
    <label class="slider"><span>${label} <strong>${value}</strong></span>
      <input type="range" min=${choices[0]} max=${choices.at(-1)} step=${choices[1] - choices[0]} value=${value}
        onInput=${(event) => onChange({ ...settings, [name]: Number(event.target.value) })} />
    </label>`;
}

// The choice of a word. Without one, the anchor imitates nobody in particular.
export function Words({ people, settings, onChange }) {
  const { name, choices, usual, anyone } = people;
  const value = settings[name] ?? usual ?? "";
  const choose = (word) => {
    const { [name]: before, ...others } = settings;
    onChange(word ? { ...others, [name]: word } : others);
  };
  return html`
    <select value=${value} onChange=${(event) => choose(event.target.value)}>
      ${usual === null && html`<option value="">${anyone || "any"}</option>`}
      ${choices.map((word) => html`<option key=${word} value=${word}>${word}</option>`)}
    </select>`;
}

// What to know of people other than the usual.
export function Hint({ people: { name, usual, hint }, settings }) {
  return hint && (settings[name] ?? usual) !== usual && html`<small class="hint">${hint}</small>`;
}

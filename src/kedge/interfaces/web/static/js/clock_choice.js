// The clock of a new game.
import { html } from "../vendor/preact-htm.js";

export function ClockChoice({ setup, clocks, onChange }) {
  const chosen = Object.keys(clocks).find((name) =>
    clocks[name][0] === (setup.clock || 0) && clocks[name][1] === (setup.increment || 0));
  const choose = (event) => {
    const [clock, increment] = clocks[event.target.value];
    onChange({ ...setup, clock, increment });
  };
  return html`
    <label><span>Clock</span>
      <select value=${chosen} onChange=${choose}>
        ${Object.keys(clocks).map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select></label>`;
}

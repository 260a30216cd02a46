// The choice of an agent, in games without a dial.
import { html } from "../../vendor/preact-htm.js";

export function AgentChoice({ label, agents, agent, onChange }) {
  const offered = agents.includes(agent) ? agents : [agent, ...agents];
  return html`
    <label><span>${label}</span>
      <select value=${agent} onChange=${(event) => onChange(event.target.value)}>
        ${offered.map((spec) => html`<option key=${spec} value=${spec}>${spec}</option>`)}
      </select></label>`;
}

// What the server needs to seat the same player again.
export function seating({ human, dial, settings, agent }) {
  return dial === null ? { human, agent } : { human, dial, settings };
}

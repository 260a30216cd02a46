// A side of a board: its player, more about it, and its clock.
import { html, useEffect, useState } from "../vendor/preact-htm.js";

// "you", the agent with its dial and the people chosen for it, or the player of a game from a file.
export function whoSits({ recorded, seats }, seat) {
  const { human, dial, settings, agent, player, rating } = seats[seat];
  if (recorded) return `${player ?? "unknown"}${rating === null ? "" : ` (${rating})`}`;
  if (human) return "you";
  if (dial === null) return agent;
  const isChosen = Object.values(settings).includes(rating); // the usual people go without saying
  return `kedge at ${Math.round(100 * dial)}${isChosen ? `, like ${rating}` : ""}`;
}

export function Side({ session, seat, children }) {
  const { name } = session.seats[seat];
  const active = session.deciding.includes(seat);
  return html`
    <div class=${`side ${active ? "active" : ""}`}>
      <span class=${`disc ${name.toLowerCase()}`} aria-hidden="true"></span>
      <span>${name}</span>
      <span class="who">${whoSits(session, seat)}</span>
      ${children}
      ${session.clock && html`<${Clock} session=${session} seat=${seat} />`}
    </div>`;
}

function Clock({ session, seat }) {
  const [now, setNow] = useState(performance.now());
  const [since, setSince] = useState(performance.now());
  const running = session.clock.running === seat;
  useEffect(() => { setSince(performance.now()); setNow(performance.now()); }, [session.revision]);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, [running]);
  const left = Math.max(0, session.clock.left[seat] - (running ? (now - since) / 1000 : 0));
  const seconds = left < 20 ? (left % 60).toFixed(1).padStart(4, "0") : String(Math.floor(left % 60)).padStart(2, "0");
  return html`<time class=${`clock ${running ? "running" : ""}`} role="timer">${Math.floor(left / 60)}:${seconds}</time>`;
}

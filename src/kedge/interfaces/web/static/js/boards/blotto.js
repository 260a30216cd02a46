// Blotto: troops on fields. The last round stands above the next.
import { html, useState } from "/static/vendor/preact-htm.js";

export const setup = { rounds: 10, troops: 10, fields: 3 };
export const undoes = false;
export const anchor = "chance"; // there are no records of people
export const number = (ply) => `${ply + 1}.`;

const LIMITS = { rounds: [1, 100], troops: [1, 50], fields: [2, 8] };
const WAYS = 500; // most ways to spread troops that the server accepts

export function Setup({ setup, onChange }) {
  const limits = { ...LIMITS, troops: [1, mostTroops(setup.fields)] };
  const change = (name, value) => {
    const next = { ...setup, [name]: value };
    onChange({ ...next, troops: Math.min(next.troops, mostTroops(next.fields)) });
  };
  return Object.entries(limits).map(([name, [least, most]]) => html`
    <label key=${name}><span>${name[0].toUpperCase() + name.slice(1)}, up to ${most}</span>
      <input type="number" required min=${least} max=${most} step="1" value=${setup[name]}
        onChange=${(event) => change(name, Number(event.target.value))} /></label>`);
}

// The most troops for so many fields.
function mostTroops(fields) {
  const ways = (troops) => Array.from({ length: fields - 1 }, (_, i) => (troops + i + 1) / (i + 1)).reduce((a, b) => a * b, 1);
  let troops = LIMITS.troops[1];
  while (troops > 1 && ways(troops) > WAYS + 0.5) troops -= 1;
  return troops;
}

export function Board({ session, hovered, onPlay, mine, seat }) {
  const { position, seats, setup } = session;
  const { rounds, score } = position;
  return html`
    <div class="blotto-table">
      <p class="score" aria-label=${`Score: ${seats[0].name} ${score[0]}, ${seats[1].name} ${score[1]}`}>
        <${Side} seat=${seats[0]} side="blue" />
        <strong>${score[0]} : ${score[1]}</strong>
        <${Side} seat=${seats[1]} side="red" />
      </p>
      <${Reveal} session=${session} last=${rounds[rounds.length - 1]} />
      ${!session.outcome && html`
        <${Orders} key=${mine[0] ?? seat} setup=${setup} seat=${mine[0]} hovered=${hovered}
          name=${`Round ${position.round + 1} of ${setup.rounds}: ${seats[mine[0] ?? seat].name}`} onPlay=${onPlay} />`}
    </div>`;
}

function Side({ seat, side }) {
  return html`
    <span class=${`colonel ${side}`}>${seat.name}
      <small>${seat.human ? "you" : `kedge at ${Math.round(100 * seat.dial)}`}</small></span>`;
}

// The troops of both sides, and the winner of each field.
function Reveal({ session: { seats, setup }, last }) {
  const fields = Array.from({ length: setup.fields }, (_, field) => field);
  const troops = (side, field) => (last ? last.spread[side][field] : 0);
  const taker = (field) => Math.sign(troops(0, field) - troops(1, field));
  const winnerName = (field) => (!last ? "" : [seats[1].name, "level", seats[0].name][taker(field) + 1]);
  return html`
    <ol class="reveal" aria-label=${last ? "The last round" : "No round yet"}>
      ${fields.map((field) => html`
        <li key=${field} aria-label=${last && `Field ${field + 1}: ${seats[0].name} ${troops(0, field)}, ${seats[1].name} ${troops(1, field)}`}>
          <svg viewBox="0 0 60 84" aria-hidden="true">
            ${[0, 1].map((side) => {
              const height = (64 * troops(side, field)) / setup.troops;
              const x = 8 + 24 * side;
              return html`
                <g class=${`${side ? "red" : "blue"} ${last && taker(field) === 1 - 2 * side ? "takes" : ""}`}>
                  <rect x=${x} y=${80 - height} width="20" height=${height} rx="2" />
                  ${last && html`<text x=${x + 10} y=${76 - height} text-anchor="middle">${troops(side, field)}</text>`}
                </g>`;
            })}
            <path d="M2 81H58" />
          </svg>
          <span>${winnerName(field) || `field ${field + 1}`}</span>
        </li>`)}
    </ol>`;
}

function Orders({ setup, seat, name, hovered, onPlay }) {
  const [spread, setSpread] = useState(() => evenly(setup.troops, setup.fields));
  const shown = typeof hovered === "string" ? hovered.split("-") : [];
  const waits = seat === undefined;
  const send = (event) => {
    event.preventDefault();
    if (!waits) onPlay(spread.join("-"));
  };
  return html`
    <form class="orders card" onSubmit=${send}>
      <h2>${name}</h2>
      ${spread.map((troops, field) => {
        const to = (wanted) => setSpread(moved(spread, field, wanted, setup.troops));
        const label = `Field ${field + 1}`;
        return html`
          <div key=${field} class="field">
            <span>${label}</span>
            <button type="button" aria-label=${`${label}: one fewer`} disabled=${troops === 0}
              onClick=${() => to(troops - 1)}>−</button>
            <input type="range" min="0" max=${setup.troops} step="1" value=${troops} aria-label=${label}
              aria-valuetext=${`${troops} of ${setup.troops} troops`}
              onInput=${(event) => to(Number(event.target.value))} />
            <button type="button" aria-label=${`${label}: one more`} disabled=${troops === setup.troops}
              onClick=${() => to(troops + 1)}>+</button>
            <output>${troops}</output>
            <span class="pointed">${shown[field]}</span>
          </div>`;
      })}
      <p class="actions"><button class="main" type="submit" disabled=${waits}>Send the troops</button></p>
    </form>`;
}

function evenly(troops, fields) {
  return Array.from({ length: fields }, (_, field) => Math.floor((troops + field) / fields));
}

// The spread with `wanted` troops on a field; the fullest other fields give, the emptiest take.
export function moved(spread, field, wanted, troops) {
  const next = [...spread];
  next[field] = Math.max(0, Math.min(troops, wanted));
  const others = next.map((_, i) => i).filter((i) => i !== field);
  const sum = () => next.reduce((total, count) => total + count, 0);
  while (sum() > troops) next[others.reduce((a, b) => (next[b] > next[a] ? b : a))] -= 1;
  while (sum() < troops) next[others.reduce((a, b) => (next[b] < next[a] ? b : a))] += 1;
  return next;
}

// The probability of each number of troops on a field.
export function Extra({ thought }) {
  const shares = thought?.more.troops;
  if (!shares) return null;
  const most = Math.max(...shares.flat());
  const step = 100 / shares.length;
  return html`
    <h3>How many troops a field gets</h3>
    <svg class="troops" viewBox="0 0 100 46" role="img"
      aria-label=${shares.map(([, search], count) => `${count}: ${Math.round(100 * search)} %`).join(", ")}>
      ${shares.map(([people, search], count) => html`
        <g key=${count}>
          <rect class="people" x=${step * (count + 0.12)} width=${0.36 * step} y=${38 - (36 * people) / most} height=${(36 * people) / most} />
          <rect class="search" x=${step * (count + 0.52)} width=${0.36 * step} y=${38 - (36 * search) / most} height=${(36 * search) / most} />
          ${(shares.length <= 16 || count % 5 === 0) && html`<text x=${step * (count + 0.5)} y="44.5" text-anchor="middle">${count}</text>`}
        </g>`)}
    </svg>`;
}

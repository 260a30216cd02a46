// Diplomacy: the map, where clicks make orders, and lists of orders for keyboards and screen readers.
import { html, useEffect, useRef, useState } from "/static/vendor/preact-htm.js";
import { whoSits } from "/static/js/side.js";
import { MapDrawing, useMap } from "./map.js";
import { POWERS, choices, click, legalOrders, modes, phaseName, prompt, province } from "./orders.js";

export const setup = { last_year: null };
export const severalPeople = true;
export const heir = true;
export const number = () => "";

export function Setup({ setup, onChange }) {
  return html`
    <label><span>It ends</span>
      <select value=${setup.last_year ?? ""} onChange=${(event) => onChange({ ...setup, last_year: Number(event.target.value) || null })}>
        <option value="">when a power has 18 centres</option>
        ${[1903, 1905, 1908, 1910, 1915, 1920].map((year) => html`<option value=${year}>at the latest after ${year}</option>`)}
      </select></label>`;
}

export function status(session) {
  const names = (seats) => seats.map((seat) => session.seats[seat].name).join(", ");
  const people = session.deciding.filter((seat) => session.seats[seat].human);
  const others = session.deciding.filter((seat) => !session.seats[seat].human);
  const phase = phaseName(session.position.name);
  if (people.length) return `${phase}: ${names(people)} to order`;
  return `${phase}: ${others.length > 3 ? `${others.length} powers` : names(others)} thinking…`;
}

// --- What the map and the lists share ----------------------------------------------------------

// The orders in progress, by seat and place, and the clicks so far.
function useOrders({ session, mine, draft, onDraft }) {
  const { position, turns } = session;
  const known = draft && draft.turn === turns.length ? draft : { turn: turns.length, written: {} };
  const people = session.seats.map((_, seat) => seat).filter((seat) => session.seats[seat].human);
  // A power that has submitted is still shown while others decide.
  const seat = mine.includes(known.seat) ? known.seat : mine[0] ?? known.seat ?? people[0];
  const power = POWERS[seat];
  const legal = legalOrders(position, power);
  const orders = legal.flatMap(([, list]) => list);
  const offered = modes(position.name, position.adjustments[power]);
  const mode = offered[known.mode] || offered[0];
  // The position may have changed through an undo elsewhere.
  const written = Object.fromEntries(Object.entries(known.written[seat] || {})
    .filter(([, text]) => orders.some((order) => order.text === text)));
  const winter = position.name.endsWith("A");
  const due = winter ? Math.abs(position.adjustments[power]) : legal.length;
  const missing = due - Object.keys(written).length;
  const clicked = known.clicked || [];

  const update = (change) => onDraft({ ...known, seat, clicked: [], choosing: null, ...change });
  const write = (place, text) => {
    const { [place]: before, ...others } = written;
    const full = winter && text && !before && missing <= 0;
    const now = text && !full ? { ...others, [place]: text } : others;
    update({ written: { ...known.written, [seat]: now }, mode: winter ? known.mode : 0 });
  };
  const press = (place) => {
    if (winter && written[place]) return write(place, null);
    const next = click(orders, mode, clicked, place);
    if (next.made.length > 1) return update({ choosing: next.made, mode: known.mode });
    if (next.made.length) return write(province(next.made[0].at), next.made[0].text);
    return update({ clicked: next.clicked, mode: next.clicked.length ? known.mode : 0 });
  };
  const turnTo = (name) => {
    const index = offered.findIndex((offer) => offer.name === name);
    const next = click(orders, offered[index], [], clicked[0] ?? "");
    if (next.made.length === 1) write(province(next.made[0].at), next.made[0].text);
    else update({ mode: index, clicked: next.clicked });
  };
  return {
    people, seat, power, legal, offered, mode, written, winter, missing, clicked, press, write, turnTo,
    drawn: orders.filter((order) => written[province(order.at)] === order.text).map((order) => ({ ...order, power })),
    choosing: known.choosing,
    // Builds and disbands are marked from the start; units to move are not.
    choices: clicked.length || !position.name.endsWith("M") ? choices(orders, mode, clicked) : [],
    take: (other) => update({ seat: other, mode: 0 }),
    cancel: () => update({ mode: 0 }),
    unit: orders.find((order) => province(order.at) === clicked[0]),
  };
}

const hint = ({ mode, clicked, unit, missing }) => prompt(mode, clicked, unit && `${unit.kind} ${unit.at}`, missing);

// --- The map -----------------------------------------------------------------------------------

export function Board(props) {
  const { session, thought, hovered, mine } = props;
  const map = useMap();
  const frame = useRef(null);
  const [arrows, setArrows] = useState(true);
  const shared = useOrders(props);
  const active = mine.length > 0;
  const { position } = session;
  const thoughtOf = (texts, look) => {
    const power = POWERS[thought.seat];
    const legal = legalOrders(position, power).flatMap(([, list]) => list);
    return { orders: legal.filter(({ text }) => texts.includes(text)).map((order) => ({ ...order, power })), look };
  };
  const pointed = hovered && thought && thoughtOf(hovered, "pointed");
  useEffect(() => { if (map) centre(frame.current, map, session.position.units[shared.power]); }, [map, shared.power]);

  const key = (event) => {
    const mode = shared.offered.find((offer) => offer.key === event.key.toLowerCase());
    if (!active || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") shared.cancel();
    else if (mode) shared.turnTo(mode.name);
    else return;
    event.preventDefault();
  };
  const written = shared.drawn;
  // What search would order, until the first order.
  const advice = !written.length && thought?.turn === session.turns.length && mine.includes(thought.seat) && thought.rows[0];
  const look = active && (advice || written.length || shared.clicked.length) ? "faded" : "";
  const past = position.past.map((orders) => ({ orders, look }));
  const now = { orders: active ? written : [], look: "" };
  const drawn = pointed ? [pointed]
    : [...(arrows ? past : []), ...(advice ? [thoughtOf(advice.move, "advised")] : []), now];
  return html`
    <div class="board diplomacy-board" onKeyDown=${key}>
      <div class="map-frame" ref=${frame}>
        ${map && html`<${MapDrawing} map=${map} position=${position} orders=${drawn}
          choices=${active ? shared.choices : []} chosen=${active ? shared.clicked : []}
          onClick=${active ? shared.press : undefined} />`}
        ${active && shared.choosing && html`<${Which} orders=${shared.choosing} shared=${shared} />`}
      </div>
      <label class="past"><input type="checkbox" checked=${arrows}
        onChange=${(event) => setArrows(event.target.checked)} /> Draw the last orders</label>
    </div>`;
}

// On a small screen, scroll the map to the power's units.
function centre(frame, map, units = []) {
  if (!units.length) return;
  const x = units.reduce((sum, unit) => sum + map.points[unit.slice(2)][0], 0) / units.length;
  frame.scrollLeft = (x / map.size[0]) * frame.scrollWidth - frame.clientWidth / 2;
}

// A choice that clicks leave open: the coast, or land and sea.
function Which({ orders, shared }) {
  const first = useRef(null);
  useEffect(() => first.current.focus(), [orders]);
  return html`
    <div class="which" role="dialog" aria-label="Which order">
      ${orders.map(({ text, at }, index) => html`
        <button type="button" ref=${index === 0 ? first : null}
          onClick=${() => shared.write(province(at), text)}>${text}</button>`)}
      <button type="button" onClick=${shared.cancel}>Cancel</button>
    </div>`;
}

// --- Beside the map ----------------------------------------------------------------------------

export function Panel(props) {
  const shared = useOrders(props);
  const { session } = props;
  return html`
    ${shared.people.length > 0 && !session.outcome && !session.isEarlier && html`<${Orders} ...${props} shared=${shared} />`}
    <${Powers} session=${session} />`;
}

function Orders({ shared, session, mine, onPlay }) {
  const { seat, people, legal, offered, mode, written, winter, missing } = shared;
  const { name } = session.seats[seat];
  const waiting = !mine.length;
  const rest = without(session.position, shared.power);
  const submit = (event) => {
    if (waiting || event.detail > 1) return; // a double click would submit the next turn
    shared.cancel();
    onPlay(Object.values(written), seat);
  };
  return html`
    <section class=${`orders-card card ${shared.power}`} aria-label=${`Orders of ${name}`}>
      ${people.length > 1 && html`
        <fieldset class="choice"><legend class="sr">Whose orders</legend>
          ${people.map((number) => html`
            <label key=${number}><input type="radio" name="power" checked=${number === seat}
              disabled=${!mine.includes(number)} onChange=${() => shared.take(number)} />
              <span class=${POWERS[number]}><i class="swatch"></i>${session.seats[number].name}
                ${session.seats[number].decided && " ✓"}</span></label>`)}
        </fieldset>`}
      <h2 class=${people.length > 1 ? "sr" : ""}><span class="swatch" aria-hidden="true"></span>${name}</h2>
      <fieldset class="writing" disabled=${waiting}><legend class="sr">Orders</legend>
        <div class="modes" role="group" aria-label="What a click on the map orders">
          ${offered.map((offer) => html`
            <button type="button" key=${offer.name} aria-pressed=${offer === mode} title=${`Key ${offer.key.toUpperCase()}`}
              onClick=${() => shared.turnTo(offer.name)}>${offer.name}</button>`)}
        </div>
        <p class="hint" aria-live="polite">${legal.length ? hint(shared) : "Nothing to order."}</p>
        <ul class="units">
          ${legal.map(([location, orders]) => html`
            <${UnitOrder} key=${location} name=${unitName(orders[0], location)} orders=${orders}
              rest=${winter ? "–" : `(${rest(1)})`} value=${written[province(location)]}
              full=${winter && missing <= 0}
              onWrite=${(text) => shared.write(province(location), text)} />`)}
        </ul>
      </fieldset>
      <button class="main" type="button" aria-disabled=${waiting} onClick=${submit}>
        ${waiting ? "Waiting for the others…" : missing > 0 ? `Submit; ${missing} ${rest(missing)}` : "Submit"}
      </button>
    </section>`;
}

// What happens to units without an order.
function without({ name, adjustments }, power) {
  if (name.endsWith("A")) return () => (adjustments[power] > 0 ? "unbuilt" : "by the rules");
  const verb = name.endsWith("M") ? "hold" : "disband";
  return (count) => (count === 1 ? `${verb}s` : verb);
}

const unitName = ({ kind, verb }, location) => (verb === "B" ? location : `${kind} ${location}`);

const VERBS = {
  "-": ["Move", "moves to"], H: ["Hold", "holds"], S: ["Support", "supports"], C: ["Convoy", "convoys"],
  R: ["Retreat", "retreats to"], D: ["Disband", "disbands"], B: ["Build", "builds"],
};

// All legal orders of a unit, as a list.
function UnitOrder({ name, orders, rest, value, full, onWrite }) {
  const groups = Object.keys(VERBS).map((verb) => orders.filter((order) => order.verb === verb)).filter((group) => group.length);
  return html`
    <li>
      <span aria-hidden="true">${name}</span>
      <select aria-label=${`Order of ${name}`} value=${value || ""} disabled=${full && !value}
        onChange=${(event) => onWrite(event.target.value || null)}>
        <option value="">${rest}</option>
        ${groups.map((group) => html`
          <optgroup key=${group[0].verb} label=${VERBS[group[0].verb][0]}>
            ${group.map((order) => html`<option key=${order.text} value=${order.text}>${inWords(order)}</option>`)}
          </optgroup>`)}
      </select>
      <button type="button" aria-label=${`Remove the order of ${name}`} disabled=${!value}
        onClick=${() => onWrite(null)}>×</button>
    </li>`;
}

// An order in words, after the unit's name.
function inWords({ text, verb, kind, at }) {
  const what = verb === "B" ? `${kind} ${at}` : text.slice(`${kind} ${at} ${verb} `.length);
  return `${VERBS[verb][1]} ${what}`.trim();
}

// The powers' centres, and who still decides.
function Powers({ session }) {
  const { centers, units, shares, values } = session.position;
  const percent = (share) => `${Math.round(100 * share)} %`;
  return html`
    <section class="card powers" aria-label="The powers">
      <table>
        <thead><tr><th>Power</th><th><span class="sr">State</span></th><th>Centres</th>
          <th class="share" title="Share of the sum of squared centres">Share</th>
          <th title="Final share that the value network expects">Expected</th></tr></thead>
        <tbody>
          ${POWERS.map((power, seat) => html`
            <tr key=${power} class=${power}>
              <th scope="row"><span class="swatch" aria-hidden="true"></span>${session.seats[seat].name}
                <span class="sr">${(units[power] || []).join(", ") || "no units"}</span></th>
              <td class="state" title=${session.recorded ? whoSits(session, seat) : undefined}>${state(session, seat)}</td>
              <td>${(centers[power] || []).length}</td>
              <td class="share">${percent(shares[seat])}</td><td>${percent(values[seat])}</td>
            </tr>`)}
        </tbody>
      </table>
    </section>`;
}

function state(session, seat) {
  const { human, decided } = session.seats[seat];
  if (session.recorded) return whoSits(session, seat);
  if (session.thinking.includes(seat)) return "thinking…";
  if (decided && !session.isEarlier) return "ready";
  if (session.deciding.includes(seat)) return human ? "you order" : "waits";
  return human ? "you" : "";
}

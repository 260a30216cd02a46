// The map as SVG: provinces by owner, units, and orders as arrows. Points are [x, y].
import { html, useEffect, useState } from "/static/vendor/preact-htm.js";
import { phaseName, province } from "./orders.js";

let drawing = null; // fetched once

export function useMap() {
  const [map, setMap] = useState(null);
  useEffect(() => {
    drawing ??= fetch(new URL("map.json", import.meta.url)).then((answer) => answer.json()).then(withPoints);
    drawing.then(setMap);
  }, []);
  return map;
}

function withPoints(map) {
  const points = Object.assign({}, ...Object.values(map.provinces).map((place) => place.units));
  return { ...map, points };
}

// Units, centres or orders by power, as pairs.
export const entries = (lists) =>
  Object.entries(lists || {}).flatMap(([power, all]) => all.map((item) => [power, item]));

// The owner of each land: of its centre or, without one, of the unit there.
function owners(map, position) {
  const byPlace = {};
  for (const [power, unit] of entries(position.units)) {
    const place = province(unit.slice(2));
    if (!map.provinces[place].sea && !map.provinces[place].centre) byPlace[place] = power;
  }
  for (const [power, place] of entries(position.centers)) byPlace[place] = power;
  return byPlace;
}

// `orders` are groups { orders, look }, drawn one over the other; their orders also have a `power`, and say whether they
// `failed`.
export function MapDrawing({ map, position, orders, choices, chosen, onClick }) {
  const [width, height] = map.size;
  const owner = owners(map, position);
  const stands = standing(map, position);
  const drawn = orders.map((group) => ({ look: group.look, parts: draw(map, stands, group) }));
  const pressed = (event) => {
    const target = event.target.closest("[data-province]");
    if (target) onClick(target.dataset.province);
  };
  return html`
    <svg class=${`map ${onClick ? "ordering" : ""}`} viewBox=${`0 0 ${width} ${height}`} role="img" tabindex="-1"
      aria-label=${`Map of Europe, ${phaseName(position.name)}`} onClick=${onClick && pressed}>
      <defs>
        <pattern id="rock" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="rock" width="5" height="5" /><path class="rock-line" d="M0 0V5" />
        </pattern>
        <g id="unit-A"><path d="M-11 4 6-8 10-2.5-6 8Z" /><circle cx="-2" cy="3.5" r="6" />
          <circle class="hub" cx="-2" cy="3.5" r="1.6" /></g>
        <g id="unit-F"><path d="M-12 2.5H12L8 9H-8Z" /><path d="M-1.2-10V.5H-9.5Z" />
          <path d="M1.2-10 9.5.5H1.2Z" /></g>
      </defs>
      <g class="seas">${provinces(map, owner, true)}</g>
      <use href="#land" class="shine" />
      <g class="lands"><g id="land">${provinces(map, owner, false)}
        ${Object.entries(map.impassable).map(([name, border]) => html`
          <polygon points=${border} fill="url(#rock)"><title>${name}</title></polygon>`)}</g></g>
      ${[...choices].map((place) => html`<polygon key=${place} class="choice" points=${map.provinces[place].border} />`)}
      ${chosen.map((place, step) => html`<polygon key=${step} class="chosen" points=${map.provinces[place].border} />`)}
      ${drawn.map(({ look, parts }) => html`<g class=${`orders ${look}`}>${parts.map((part) => part.line)}</g>`)}
      <g class="names">${Object.entries(map.provinces).map(([name, place]) => html`
        <text key=${name} class=${place.sea ? "sea" : ""} x=${place.label[0]} y=${place.label[1]}>${name}</text>
        ${place.centre && html`
          <g class=${`centre ${owner[name] || ""}`} transform=${`translate(${place.centre})`}>
            <circle r="4.4" /><circle class="owner" r="2.6" /></g>`}`)}</g>
      ${entries(position.units).map(([power, unit]) => html`
        <${Unit} key=${unit} at=${map.points[unit.slice(2)]} power=${power} unit=${unit} />`)}
      ${entries(position.dislodged).map(([power, unit]) => html`
        <${Unit} key=${`*${unit}`} at=${beside(map.points[unit.slice(2)])} power=${power} unit=${unit} look="dislodged" />`)}
      ${drawn.map(({ look, parts }) => html`<g class=${`orders ${look}`}>${parts.map((part) => part.mark)}</g>`)}
      <text class="phase" x="18" y="32">${phaseName(position.name)}</text>
    </svg>`;
}

function provinces(map, owner, sea) {
  return Object.entries(map.provinces).filter(([, place]) => place.sea === sea).map(([name, place]) => html`
    <polygon key=${name} class=${owner[name] ? `owned ${owner[name]}` : ""} data-province=${name}
      points=${place.border}><title>${`${place.name} (${name})`}</title></polygon>`);
}

function Unit({ at, power, unit, look = "" }) {
  return html`
    <g class=${`unit ${power} ${look}`} transform=${`translate(${at})`} data-province=${province(unit.slice(2))}>
      <title>${`${unit} of ${power}`}</title>
      <use class="edge" href=${`#unit-${unit[0]}`} /><use href=${`#unit-${unit[0]}`} />
    </g>`;
}

// --- Orders -----------------------------------------------------------------------------------

const add = ([x, y], [u, v], times = 1) => [x + times * u, y + times * v];
const between = (start, end) => [end[0] - start[0], end[1] - start[1]];
const turned = ([x, y]) => [-y, x];
const unitStep = (start, end) => {
  const [x, y] = between(start, end);
  const length = Math.hypot(x, y) || 1;
  return [x / length, y / length];
};
const xy = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
// A dislodged unit stands aside, so that its attacker is visible.
const beside = (point) => add(point, [15, -12]);
// A move's curve is pulled aside, so that two units that swap do not hide each other's.
const bend = (start, end) => add(add(start, between(start, end), 0.5), turned(between(start, end)), 0.13);
const middle = (start, end) => add(add([0, 0], add(start, end), 0.25), bend(start, end), 0.5);

function standing(map, position) {
  const places = {};
  for (const [, unit] of entries(position.units)) places[province(unit.slice(2))] = map.points[unit.slice(2)];
  return places;
}

// Each order has a line under the units and a mark over them; a WAIVE has neither.
function draw(map, stands, { orders }) {
  const moves = new Map(orders.filter((order) => order.verb === "-").map((order) => [province(order.at), order]));
  const point = (location) => map.points[location];
  // Supports and convoys may leave out a coast that the unit or its move has.
  const supported = ({ other, to }) => {
    const move = moves.get(province(other));
    const start = move ? point(move.at) : stands[province(other)] || point(other);
    if (!to) return [start, null];
    return [start, point(move && province(move.to) === province(to) ? move.to : to)];
  };
  return orders.filter((order) => SHAPES[order.verb])
    .map((order) => SHAPES[order.verb]({ ...order, start: point(order.at), point, supported }));
}

const SHAPES = {
  H: ({ power, start }) => ({ line: stroke(power, ring(start)) }),
  "-": ({ power, start, point, to, failed }) => arrow(power, start, point(to), failed),
  R: ({ power, start, point, to, failed }) => arrow(power, beside(start), point(to), failed),
  S: ({ power, start, ...order }) => {
    const [from, to] = order.supported(order);
    if (to) return joined(power, `M${xy(start)}L${xy(middle(from, to))}`, middle(from, to), "support");
    const edge = add(from, unitStep(start, from), -16);
    return { line: stroke(power, `M${xy(start)}L${xy(edge)}${ring(from)}`, "support") };
  },
  C: ({ power, start, ...order }) => {
    const end = middle(...order.supported(order));
    return joined(power, wave(start, end), end, "convoy");
  },
  B: ({ power, start, kind, at }) => ({
    line: html`<${Unit} at=${start} power=${power} unit=${`${kind} ${at}`} />`,
    mark: badge(`M${xy(add(start, [7, -9]))}h10m-5-5v10`, "built"),
  }),
  D: ({ start }) => ({ mark: badge(`M${xy(add(start, [-9, -9]))}l18 18m-18 0 18-18`, "removed") }),
};

function arrow(power, start, end, failed) {
  const pull = bend(start, end);
  const toward = unitStep(pull, end);
  const [tip, base] = [add(end, toward, -10), add(end, toward, -21)];
  const head = `M${xy(tip)}L${xy(add(base, turned(toward), 6))}L${xy(add(base, turned(toward), -6))}Z`;
  return {
    line: stroke(power, `M${xy(start)}Q${xy(pull)} ${xy(base)}`, failed ? "failed move" : "move"),
    mark: html`<path class=${`head ${power}`} d=${head} />`,
  };
}

const joined = (power, path, end, look) => ({
  line: stroke(power, path, look),
  mark: html`<circle class=${`head ${power}`} cx=${end[0]} cy=${end[1]} r="3.6" />`,
});

// A line with a pale edge, so that it stands off borders.
const stroke = (power, path, look = "") => html`
  <path class=${`under ${look}`} d=${path} /><path class=${`line ${power} ${look}`} d=${path} />`;
const badge = (path, look) => html`
  <path class="badge edge" d=${path} /><path class=${`badge ${look}`} d=${path} />`;
const ring = (point) => `M${xy(add(point, [-16, 0]))}a16 16 0 1 0 32 0a16 16 0 1 0-32 0`;

function wave(start, end) {
  const ripples = Math.max(1, Math.round(Math.hypot(...between(start, end)) / 9));
  const step = add([0, 0], between(start, end), 1 / ripples);
  const first = add(add([0, 0], step, 0.5), turned(unitStep(start, end)), 5);
  return `M${xy(start)}q${xy(first)} ${xy(step)}${`t${xy(step)}`.repeat(ripples - 1)}`;
}

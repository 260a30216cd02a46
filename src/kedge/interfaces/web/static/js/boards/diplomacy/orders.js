// Makes legal orders from clicks on provinces. An order is { text, kind, at, verb, other, to }.

export const POWERS = ["AUSTRIA", "ENGLAND", "FRANCE", "GERMANY", "ITALY", "RUSSIA", "TURKEY"];
const SEASONS = { S: "Spring", F: "Fall", W: "Winter" };
const PHASES = { M: "movement", R: "retreats", A: "adjustments" };

export const phaseName = (name) => `${SEASONS[name[0]]} ${name.slice(1, 5)}, ${PHASES[name[5]]}`;
export const province = (location) => location.slice(0, 3);

// The legal orders of a power by place, as pairs.
export const legalOrders = (position, power) =>
  Object.entries(position.legal[power] || {}).map(([location, orders]) =>
    [location, Object.entries(orders).filter(([text]) => text !== "WAIVE").map(([text, parts]) => ({ text, ...parts }))]);

// What a click means. `path` gives the clicks that make an order.
const itself = ({ at }) => [at];
const goal = ({ at, to }) => [at, to ?? at];
const through = ({ at, other, to }) => [at, other, to ?? other];
const mode = (name, path, takes) => ({ name, key: name[0].toLowerCase(), path, takes });
const MOVE = mode("Move", goal, ({ verb }) => verb === "-" || verb === "H");
const SUPPORT = mode("Support", through, ({ verb }) => verb === "S");
const CONVOY = mode("Convoy", through, ({ verb }) => verb === "C");
const HOLD = mode("Hold", itself, ({ verb }) => verb === "H");
const RETREAT = mode("Retreat", goal, ({ verb }) => verb === "R" || verb === "D");
const DISBAND = mode("Disband", itself, ({ verb }) => verb === "D");
const ARMY = mode("Army", itself, ({ verb, kind }) => verb === "B" && kind === "A");
const FLEET = mode("Fleet", itself, ({ verb, kind }) => verb === "B" && kind === "F");

// The modes of a phase, the usual one first; in Winter a power either builds or disbands.
export function modes(phase, adjustment) {
  if (phase.endsWith("M")) return [MOVE, SUPPORT, CONVOY, HOLD];
  if (phase.endsWith("R")) return [RETREAT, DISBAND];
  return adjustment > 0 ? [ARMY, FLEET] : [DISBAND];
}

// Orders of a mode that begin with these clicks.
export function possible(orders, mode, clicked) {
  return orders.filter((order) => mode.takes(order)
    && clicked.every((place, step) => province(mode.path(order)[step] ?? "") === place));
}

// Where the next click may go.
export function choices(orders, mode, clicked) {
  const next = possible(orders, mode, clicked).map((order) => mode.path(order)[clicked.length]);
  return new Set(next.filter(Boolean).map(province));
}

// What there is after one more click: the clicks so far, and the orders that they have made, if
// they have; more than one where coasts or a convoy leave a choice.
export function click(orders, mode, clicked, place) {
  const now = [...clicked, place];
  const fitting = possible(orders, mode, now);
  if (fitting.length && mode.path(fitting[0]).length === now.length) return { clicked: [], made: fitting };
  if (fitting.length) return { clicked: now, made: [] };
  const begins = orders.some((order) => province(order.at) === place) && clicked[0] !== place;
  return { clicked: begins ? [place] : [], made: [] };
}

// The next step, in words.
export function prompt(mode, [first, second], unit, missing) {
  if (!first) {
    if (!missing) return "Every order is given.";
    if (mode === ARMY || mode === FLEET) return `Click a home centre: ${missing} to build.`;
    if (mode === DISBAND) return `Click a unit to disband: ${missing} to go.`;
    return `Click a unit: ${missing} without an order.`;
  }
  if (mode === CONVOY) return second ? `${unit} convoys ${second}: where to?` : `${unit} convoys: which army?`;
  if (mode === RETREAT) return `${unit} retreats: where to? Itself: disband.`;
  if (mode !== SUPPORT) return `${unit}: where to? Itself: hold.`;
  return second ? `${unit} supports ${second}: where to? Itself: where it is.` : `${unit} supports: which unit?`;
}

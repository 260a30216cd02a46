// The Go board: mouse, touch or keys, with what people and search would play.
import { html, useEffect, useMemo, useRef, useState } from "/static/vendor/preact-htm.js";
import { ClockChoice } from "/static/js/clock_choice.js";
import { Side } from "/static/js/side.js";
import { same } from "/static/js/why.js";

const LETTERS = "ABCDEFGHJKLMNOPQRST";
const SIDES = ["Black", "White"];
const MARGIN = 1.25; // from the first line to the edge, where 1 is from line to line
const RULES = { chinese: "Area (Chinese)", japanese: "Territory (Japanese)", aga: "Area (AGA)", "new-zealand": "Area (New Zealand)" };
const CLOCKS = { none: [0, 0], "5 + 5": [300, 5], "10 + 10": [600, 10], "20 + 20": [1200, 20], "45 + 30": [2700, 30] };
const ENDS = {
  pass: "It passes, as people do when nothing is left to play or the count is won.",
  resign: "It resigns, as people do when a game has looked lost for some moves.",
};
const FINGER = 30; // least pixels between lines for a finger

export const setup = { size: 19, rules: "chinese", komi: 7.5, handicap: 0 };
export const resigns = true;
export const number = (ply, session) => (/^([A-T]\d+|pass)$/.test(session.turns[ply].name) ? `${ply + 1}.` : "");
export const caveat = ({ size }) =>
  size === 19 ? null : "The model learned on 19×19, and the dial was measured there.";

export function status(session, mine) {
  const { phase, last, score } = session.position;
  if (phase === "judging") return "Looking for dead stones…";
  if (phase === "marking") {
    const lead = score ? `${SIDES[score < 0 ? 1 : 0]} is ahead by ${Math.abs(score)}` : "It is a draw";
    return mine.length ? `${lead}. ${SIDES[mine[0]]}: click dead groups, then accept` : lead;
  }
  return last === "pass" && mine.length ? `${SIDES[1 - mine[0]]} passes. ${SIDES[mine[0]]} to move` : null;
}

export function Setup({ setup, onChange }) {
  const change = (more) => {
    const next = { ...setup, ...more };
    onChange("komi" in more ? next : { ...next, komi: usualKomi(next) });
  };
  return html`
    <fieldset class="choice">
      <legend>Board</legend>
      ${[19, 13, 9].map((size) => html`
        <label key=${size}><input type="radio" name="size" checked=${setup.size === size}
          onChange=${() => change({ size })} /><span>${size}×${size}</span></label>`)}
    </fieldset>
    <label><span>Rules</span>
      <select value=${setup.rules} onChange=${(event) => change({ rules: event.target.value })}>
        ${Object.entries(RULES).map(([rules, name]) => html`<option value=${rules}>${name}</option>`)}
      </select></label>
    <label><span>Handicap</span>
      <select value=${setup.handicap} onChange=${(event) => change({ handicap: Number(event.target.value) })}>
        ${[0, 2, 3, 4, 5, 6, 7, 8, 9].map((stones) => html`
          <option value=${stones}>${stones ? `${stones} stones` : "none"}</option>`)}
      </select></label>
    <label><span>Komi</span>
      <input type="number" step="0.5" min="-361" max="361" value=${setup.komi}
        onChange=${(event) => event.target.value !== "" && change({ komi: Number(event.target.value) })} /></label>
    <${ClockChoice} setup=${setup} clocks=${CLOCKS} onChange=${onChange} />`;
}

function usualKomi({ rules, handicap }) {
  if (handicap) return 0.5;
  return rules === "japanese" ? 6.5 : 7.5;
}

// Vertices such as D4, and where they are: columns from the left, rows from the top.
const vertex = (x, y, size) => LETTERS[x] + (size - y);
const place = (name, size) => [LETTERS.indexOf(name[0]), size - Number(name.slice(1))];

export function Board({ session, thought, hovered, onHover, onPlay, mine }) {
  const { position } = session;
  const { size, phase, stones } = position;
  const [pointed, setPointed] = useState(null); // under the mouse
  const [chosen, setChosen] = useState(null); // by a first tap
  const [cursor, setCursor] = useState(null); // by keys
  const svg = useRef(null);
  const finger = useRef(false);
  const wood = useMemo(() => html`<${Wood} size=${size} />`, [size]);
  useEffect(() => { setChosen(null); setPointed(null); }, [session.turns.length]);

  const side = size - 1 + 2 * MARGIN;
  const at = (name) => stones[place(name, size)[1] * size + place(name, size)[0]];
  const forbidden = new Set(position.forbidden);
  const mayPlay = (name) => phase === "play" && mine.length > 0 && at(name) === "." && !forbidden.has(name);
  const mayMark = (name) => phase === "marking" && mine.length > 0 && at(name) !== ".";
  const rows = thought ? thought.rows : [];
  const age = thought ? session.turns.length - thought.turn : Infinity;
  const shown = age <= 1 && hovered ? rows.find((row) => same(row.move, hovered)) : null;

  function choose(name) {
    if (mayPlay(name)) onPlay(name);
    else if (mayMark(name)) onPlay(`mark ${name}`);
  }
  function vertexAt(event) {
    const box = svg.current.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top].map((from) =>
      Math.round((side * from) / box.width - MARGIN));
    return x >= 0 && x < size && y >= 0 && y < size ? vertex(x, y, size) : null;
  }
  function over(event) {
    if (event.pointerType === "touch") return;
    const name = vertexAt(event);
    setPointed(name);
    setCursor(null);
    if (age === 0) onHover(warm(rows).some((row) => row.move === name) ? name : null);
  }
  function out() {
    setPointed(null);
    if (age === 0) onHover(null);
  }
  function click(event) {
    const name = vertexAt(event);
    if (!name) return;
    setCursor(null);
    // If the lines are too narrow for a finger, the first tap only aims.
    const narrow = svg.current.getBoundingClientRect().width / side < FINGER;
    const aims = finger.current && narrow && mayPlay(name) && name !== chosen;
    setChosen(aims ? name : null);
    if (!aims) choose(name);
  }
  function key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const here = cursor || vertex(size >> 1, size >> 1, size);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) {
      const [x, y] = place(here, size).map((was, axis) => Math.min(size - 1, Math.max(0, was + steps[event.key][axis])));
      setCursor(vertex(x, y, size));
    } else if (event.key === "Enter" || event.key === " ") choose(here);
    else if (event.key.toLowerCase() === "p" && phase === "play" && mine.length) onPlay("pass");
    else return;
    event.preventDefault();
  }

  const aim = [chosen, cursor, pointed].find((name) => name && mayPlay(name));
  const below = session.seats[0].human || !session.seats[1].human ? 0 : 1;
  const point = (name) => place(name, size).map((line) => MARGIN + line);
  return html`
    <div class=${`board go-board ${phase}`}>
      <${Player} session=${session} seat=${1 - below} />
      <div class="square-frame">
        <svg ref=${svg} viewBox=${`0 0 ${side} ${side}`} role="application" tabindex="0"
          aria-label="Go board. Arrow keys move, Enter plays, P passes."
          onPointerDown=${(event) => { finger.current = event.pointerType === "touch"; }}
          onPointerMove=${over} onPointerLeave=${out} onClick=${click} onKeyDown=${key}
          onFocus=${() => !cursor && setCursor(vertex(size >> 1, size >> 1, size))}>
          ${wood}
          <${Stones} position=${position} />
          ${age === 0 && phase === "play" && !shown && html`<${Heat} rows=${rows} point=${point} />`}
          ${shown && html`<${Line} row=${shown} seat=${thought.seat} point=${point} />`}
          ${aim && !shown && html`
            ${aim === chosen && html`<path class="cross" d=${cross(point(aim), side)} />`}
            <${Stone} kind=${"bw"[mine[0]]} at=${point(aim)} class=${`ghost ${aim === cursor ? "keyed" : ""}`} />`}
          ${cursor && html`<rect class="cursor" x=${point(cursor)[0] - 0.52} y=${point(cursor)[1] - 0.52} width="1.04" height="1.04" rx="0.1" />`}
        </svg>
        <p class="sr" aria-live="polite">${cursor && say(cursor, at(cursor), mayPlay(cursor), position)}</p>
      </div>
      <${Player} session=${session} seat=${below}>
        <${Buttons} phase=${phase} idle=${!mine.length} chosen=${chosen} onPlay=${onPlay} />
      <//>
    </div>`;
}

// Why the agent passes or resigns.
export const Extra = ({ thought }) => {
  const ends = thought && ENDS[thought.more.ends];
  return ends ? html`<p>${ends}</p>` : null;
};

function say(name, stone, free, position) {
  if (stone === ".") return position.phase === "play" && !free ? `${name}, not now` : name;
  return `${name} ${stone === "b" ? "black" : "white"}${position.dead.includes(name) ? ", dead" : ""}`;
}

const cross = ([x, y], side) => `M${x} ${MARGIN}V${side - MARGIN}M${MARGIN} ${y}H${side - MARGIN}`;

function Player({ session, seat, children }) {
  const taken = session.position.captured[seat];
  return html`
    <${Side} session=${session} seat=${seat}>
      ${taken > 0 && html`<span class="captured">${taken} captured</span>`}
      ${children}
    <//>`;
}

function Buttons({ phase, idle, chosen, onPlay }) {
  const button = (label, move, main) => html`
    <button type="button" class=${main ? "main" : ""} disabled=${idle || phase === "over"}
      onClick=${() => onPlay(move)}>${label}</button>`;
  return html`
    <span class="do">
      ${phase === "marking" ? [button("Accept", "agree", true), button("Play on", "resume")]
        : chosen ? button(`Play ${chosen}`, chosen, true) : button("Pass", "pass")}
    </span>`;
}

// The board without stones, with the names of its lines.
function Wood({ size }) {
  const lines = [...Array(size).keys()];
  const [first, last, side] = [MARGIN, MARGIN + size - 1, size - 1 + 2 * MARGIN];
  const grain = [...Array(Math.ceil(side)).keys()].map((row) => {
    const [y, bend] = [row + 0.4, row % 2 ? 0.3 : -0.3];
    return `M0 ${y}C${side / 3} ${y + bend} ${(2 * side) / 3} ${y - bend} ${side} ${y + 0.1}`;
  });
  return html`
    <defs>
      <linearGradient id="go-wood" x1="0" y1="0" x2="1" y2="1">
        <stop class="wood-light" offset="0" /><stop class="wood" offset="0.5" /><stop class="wood-dark" offset="1" />
      </linearGradient>
      <radialGradient id="go-b" cx="0.36" cy="0.32" r="0.75">
        <stop offset="0" stop-color="#6d6d70" /><stop offset="0.35" stop-color="#2c2c2f" /><stop offset="1" stop-color="#0a0a0c" />
      </radialGradient>
      <radialGradient id="go-w" cx="0.36" cy="0.32" r="0.8">
        <stop offset="0" stop-color="#ffffff" /><stop offset="0.6" stop-color="#f3f1ec" /><stop offset="1" stop-color="#c9c4ba" />
      </radialGradient>
    </defs>
    <rect width=${side} height=${side} rx="0.25" fill="url(#go-wood)" />
    <path class="grain" d=${grain.join("")} />
    <path class="lines" d=${lines.map((i) => `M${first} ${first + i}H${last}M${first + i} ${first}V${last}`).join("")} />
    <rect class="lines edge" x=${first} y=${first} width=${size - 1} height=${size - 1} />
    ${hoshi(size).map(([x, y]) => html`<circle class="hoshi" cx=${first + x} cy=${first + y} r="0.11" />`)}
    ${lines.map((i) => [0.45, side - 0.45].map((edge) => html`
      <text class="coordinate" x=${first + i} y=${edge + 0.14}>${LETTERS[i]}</text>
      <text class="coordinate" x=${edge} y=${first + i + 0.14}>${size - i}</text>`))}`;
}

function hoshi(size) {
  const [near, middle] = [size > 12 ? 3 : 2, size >> 1];
  const marked = size > 13 ? [near, middle, size - 1 - near] : [near, size - 1 - near];
  const points = marked.flatMap((x) => marked.map((y) => [x, y]));
  return size > 13 ? points : [...points, [middle, middle]];
}

function Stone({ kind, at: [x, y], class: name = "" }) {
  return html`
    <g class=${`stone ${name}`}>
      <circle class="shadow" cx=${x + 0.03} cy=${y + 0.06} r="0.475" />
      <circle cx=${x} cy=${y} r="0.475" fill=${`url(#go-${kind})`} />
    </g>`;
}

// The stones, the last of them ringed; in a count the dead ones fade, and territory is marked.
function Stones({ position }) {
  const { size, stones, territory, last } = position;
  const dead = new Set(position.dead);
  return [...stones].map((kind, index) => {
    const [column, row] = [index % size, Math.floor(index / size)];
    const [x, y] = [MARGIN + column, MARGIN + row];
    const name = vertex(column, row, size);
    const owner = territory ? territory[index] : ".";
    return html`
      <g key=${name}>
        ${kind !== "." && html`<${Stone} kind=${kind} at=${[x, y]} class=${dead.has(name) ? "dead" : ""} />`}
        ${name === last && html`<circle class=${`last-stone ${kind}`} cx=${x} cy=${y} r="0.22" />`}
        ${owner !== "." && html`<rect class=${`territory ${owner}`} x=${x - 0.13} y=${y - 0.13} width="0.26" height="0.26" />`}
      </g>`;
  });
}

const warm = (rows) => rows.filter((row) => row.move !== "pass" && Math.max(row.anchor, row.policy) >= 0.01);

// People's probability of a point as a ring, and search's as a disc in it.
function Heat({ rows, point }) {
  return warm(rows).map((row) => {
    const [cx, cy] = point(row.move);
    const [people, search] = [0.14 + 0.28 * Math.sqrt(row.anchor), 0.36 * Math.sqrt(row.policy)];
    return html`
      <g key=${row.move} class="heat">
        <circle class="halo" cx=${cx} cy=${cy} r=${Math.max(people + 0.08, search + 0.04)} />
        <circle class="people" cx=${cx} cy=${cy} r=${people} />
        <circle class="search" cx=${cx} cy=${cy} r=${search} />
      </g>`;
  });
}

// The expected continuation of a move, as numbered stones.
function Line({ row, seat, point }) {
  const line = row.line.length ? row.line : [row.move];
  const seen = new Set(); // a point keeps its first number
  return line.map((name, index) => {
    if (name === "pass" || seen.has(name)) return null;
    seen.add(name);
    const kind = "bw"[(seat + index) % 2];
    const [x, y] = point(name);
    return html`
      <g key=${name} class=${`line-stone ${kind} ${index ? "" : "first"}`}>
        <${Stone} kind=${kind} at=${[x, y]} />
        <text x=${x} y=${y + 0.19}>${index + 1}</text>
      </g>`;
  });
}

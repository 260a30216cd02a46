// The chess board: drag, click or keys, with arrows for what people and search would play.
import { html, useLayoutEffect, useRef, useState } from "/static/vendor/preact-htm.js";
import { ClockChoice } from "/static/js/clock_choice.js";
import { Side } from "/static/js/side.js";
import { same } from "/static/js/why.js";

const PIECES = { P: "pawn", N: "knight", B: "bishop", R: "rook", Q: "queen", K: "king" };
const FILES = "abcdefgh";
const SQUARES = [...FILES].flatMap((file) => [1, 2, 3, 4, 5, 6, 7, 8].map((rank) => file + rank));

const WORTH = { P: 1, N: 3, B: 3, R: 5, Q: 9, K: 0 };
const GLYPHS = { P: "♟", N: "♞", B: "♝", R: "♜", Q: "♛" };

export const setup = {};
export const once = ["fen"];
export const flips = true;
export const resigns = true;
export const sheet = true;

export const number = (ply, session) => `${count(ply, session)[0]}.`;
export const label = (ply, session) => count(ply, session).join("");

// The number of a move, and the dots behind it.
function count(ply, session) {
  const [, player, , , , move] = session.setup.fen.split(" ");
  const plies = ply + (player === "b" ? 1 : 0);
  return [Number(move) + Math.floor(plies / 2), plies % 2 ? "…" : "."];
}

const CLOCKS = { none: [0, 0], "3 + 2": [180, 2], "5 + 0": [300, 0], "10 + 5": [600, 5], "30 + 20": [1800, 20] };

export function Setup({ setup, onChange }) {
  return html`
    <${ClockChoice} setup=${setup} clocks=${CLOCKS} onChange=${onChange} />
    <label><span>From a position (FEN)</span>
      <input type="text" maxlength="100" spellcheck="false" placeholder="the start of the game"
        onChange=${(event) => {
          const { fen, ...others } = setup;
          onChange(event.target.value ? { ...others, fen: event.target.value } : others);
        }} /></label>`;
}

// The letters of the pieces of a FEN, by square.
function letters(fen) {
  const standing = {};
  fen.split(" ")[0].split("/").forEach((rank, row) => {
    let file = 0;
    for (const letter of rank) {
      if (letter >= "1" && letter <= "8") file += Number(letter);
      else standing[FILES[file++] + (8 - row)] = letter;
    }
  });
  return standing;
}

// The pieces of a position by square: { letter, name }. A piece that moves keeps its name, so that the eye can follow.
function follow(before, { fen, last }) {
  const free = { ...before };
  const named = {};
  const keep = (square, from) => {
    named[square] = free[from];
    delete free[from];
  };
  const standing = Object.entries(letters(fen));
  for (const [square, letter] of standing) if (free[square]?.letter === letter) keep(square, square);
  for (const [square, letter] of standing) {
    if (named[square]) continue;
    const alike = Object.keys(free).filter((place) => free[place].letter === letter);
    const from = alike.find((place) => last?.startsWith(place)) || alike[0];
    if (from) keep(square, from);
    else named[square] = { letter, name: (names += 1) };
  }
  return named;
}
let names = 0;

// The pieces that one side has more of.
function surplus(standing, white) {
  const tally = {};
  for (const { letter } of Object.values(standing)) {
    const kind = letter.toUpperCase();
    tally[kind] = (tally[kind] || 0) + ((letter === kind) === white ? 1 : -1);
  }
  const more = Object.keys(GLYPHS).reverse().map((kind) => GLYPHS[kind].repeat(Math.max(0, tally[kind] || 0))).join("");
  const worth = Object.keys(tally).reduce((sum, kind) => sum + WORTH[kind] * tally[kind], 0);
  if (!more) return null;
  return html`<span class="material" title="more than the other side">${more}${worth > 0 ? ` +${worth}` : ""}</span>`;
}

const art = (letter) => `/games/chess/${letter === letter.toUpperCase() ? "w" : "b"}${letter.toUpperCase()}.svg`;

function pieceName(letter) {
  return `${letter === letter.toUpperCase() ? "white" : "black"} ${PIECES[letter.toUpperCase()]}`;
}

export function Board({ session, thought, hovered, onPlay, mine, flipped, seat }) {
  const { position } = session;
  const turned = (seat === 1) !== flipped;
  const [from, setFrom] = useState(null);
  const [cursor, setCursor] = useState("e2");
  const [drag, setDrag] = useState(null);
  const [promoting, setPromoting] = useState(null); // the moves to choose from
  const [sent, setSent] = useState(null); // a move that the live messages do not have yet
  const svg = useRef(null);
  const known = useRef({ fen: null, pieces: {} });
  if (known.current.fen !== position.fen) {
    known.current = { fen: position.fen, pieces: follow(known.current.pieces, position) };
  }
  const standing = known.current.pieces;
  useLayoutEffect(() => {
    setFrom(null); setDrag(null); setPromoting(null); setSent(null);
  }, [position.fen, session.outcome]);

  const legal = mine.length ? position.legal : [];
  const targets = from ? legal.filter((move) => move.startsWith(from)).map((move) => move.slice(2, 4)) : [];
  const x = (square) => (turned ? 7 - FILES.indexOf(square[0]) : FILES.indexOf(square[0]));
  const y = (square) => (turned ? Number(square[1]) - 1 : 8 - Number(square[1]));
  const squareOf = (column, row) => FILES[turned ? 7 - column : column] + (turned ? row + 1 : 8 - row);

  function move(start, end) {
    const moves = legal.filter((each) => each.startsWith(start + end));
    if (!moves.length) return false;
    if (moves.length > 1) setPromoting(moves);
    else send(moves[0]);
    setFrom(null);
    return true;
  }
  function send(move) {
    setPromoting(null);
    setSent(move);
    onPlay(move).then((accepted) => accepted || setSent(null));
  }
  function choose(square) {
    if (from && from !== square && move(from, square)) return;
    const can = legal.some((move) => move.startsWith(square));
    setFrom(can && from !== square ? square : null);
  }
  function squareAt(event) {
    const { x: column, y: row } = place(event);
    return column >= 0 && column < 8 && row >= 0 && row < 8 ? squareOf(Math.floor(column), Math.floor(row)) : null;
  }
  // The point of an event, in squares from the upper left corner.
  function place(event) {
    const box = svg.current.getBoundingClientRect();
    return { x: (8 * (event.clientX - box.left)) / box.width, y: (8 * (event.clientY - box.top)) / box.height };
  }
  function down(event) {
    const square = squareAt(event);
    if (!square || event.button) return;
    setCursor(square);
    if (legal.some((move) => move.startsWith(square))) {
      svg.current.setPointerCapture(event.pointerId);
      setDrag({ square, ...place(event), moved: false, again: from === square });
      if (!(from && from !== square && targets.includes(square))) setFrom(square);
    }
  }
  function over(event) {
    if (drag) setDrag({ ...drag, ...place(event), moved: true });
  }
  function up(event) {
    const square = squareAt(event);
    if (drag) {
      setDrag(null);
      if (square && square !== drag.square) {
        if (!move(drag.square, square)) setFrom(null);
      } else if (drag.again) setFrom(null);
    } else if (square) choose(square);
  }
  function key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (steps[event.key]) {
      const [right, low] = steps[event.key];
      const column = Math.min(7, Math.max(0, x(cursor) + right));
      const row = Math.min(7, Math.max(0, y(cursor) + low));
      setCursor(squareOf(column, row));
    } else if (event.key === "Enter" || event.key === " ") choose(cursor);
    else if (event.key === "Escape") { setFrom(null); setPromoting(null); }
    else return;
    event.preventDefault();
  }

  const king = position.player ? "k" : "K";
  const checked = position.in_check && SQUARES.find((square) => standing[square]?.letter === king);
  const last = position.last ? [position.last.slice(0, 2), position.last.slice(2, 4)] : [];
  const here = thought && thought.turn === session.turns.length;
  return html`
    <div class="board chess-board">
      <${Side} session=${session} seat=${turned ? 0 : 1}>${surplus(standing, turned)}<//>
      <div class="square-frame">
      <svg ref=${svg} viewBox="0 0 8 8" role="application" tabindex="0"
        aria-label=${`Chess board. ${say(cursor, standing, legal, from)}. Arrow keys move, Enter chooses.`}
        onPointerDown=${down} onPointerMove=${over} onPointerUp=${up} onPointerCancel=${() => setDrag(null)}
        onKeyDown=${key}>
        ${SQUARES.map((square) => {
          const dark = (FILES.indexOf(square[0]) + Number(square[1])) % 2 === 1;
          return html`<rect key=${square} class=${`square ${dark ? "dark" : "light"}`}
            x=${x(square)} y=${y(square)} width="1" height="1" />`;
        })}
        ${last.map((square) => html`<rect class="last" x=${x(square)} y=${y(square)} width="1" height="1" />`)}
        ${checked && html`<circle class="check" cx=${x(checked) + 0.5} cy=${y(checked) + 0.5} r="0.5" />`}
        ${from && html`<rect class="from" x=${x(from)} y=${y(from)} width="1" height="1" />`}
        <rect class="cursor" x=${x(cursor) + 0.03} y=${y(cursor) + 0.03} width="0.94" height="0.94" />
        ${inOrder(standing, drag).map(([square, { letter, name }]) => {
          const dragged = drag?.moved && drag.square === square;
          const at = sent?.startsWith(square) ? sent.slice(2, 4) : square;
          const [right, low] = dragged ? [drag.x - 0.5, drag.y - 0.5] : [x(at), y(at)];
          const taken = sent?.slice(2, 4) === square;
          return html`<image key=${name} class=${`piece ${dragged ? "dragged" : ""} ${taken ? "taken" : ""}`} href=${art(letter)}
            width="1" height="1" style=${{ transform: `translate(${right}px, ${low}px)` }} />`;
        })}
        ${[...FILES].map((file) => html`<text class="coordinate" x=${x(file + "1") + 0.96} y="7.96" text-anchor="end">${file}</text>`)}
        ${[1, 2, 3, 4, 5, 6, 7, 8].map((rank) => html`<text class="coordinate" x="0.04" y=${y(`a${rank}`) + 0.2}>${rank}</text>`)}
        ${targets.map((square) => standing[square]
          ? html`<circle class="target taken" cx=${x(square) + 0.5} cy=${y(square) + 0.5} r="0.44" />`
          : html`<circle class="target" cx=${x(square) + 0.5} cy=${y(square) + 0.5} r="0.15" />`)}
        ${thought && (here || hovered) && arrows(thought.rows, hovered).map(([row, kind, width, opacity, aside]) => html`
          <${Arrow} kind=${kind} width=${width} opacity=${opacity} aside=${aside}
            from=${[x(row.move) + 0.5, y(row.move) + 0.5]}
            to=${[x(row.move.slice(2)) + 0.5, y(row.move.slice(2)) + 0.5]} />`)}
      </svg>
      ${promoting && html`
        <${Promotion} black=${position.player === 1} column=${x(promoting[0].slice(2))} below=${y(promoting[0].slice(2)) < 4}
          onChoose=${(letter) => { send(promoting.find((each) => each.endsWith(letter))); svg.current.focus(); }}
          onClose=${() => { setPromoting(null); svg.current.focus(); }} />`}
      </div>
      <${Side} session=${session} seat=${turned ? 1 : 0}>${surplus(standing, !turned)}<//>
    </div>`;
}

// Sorted by name, so that the browser moves only what moves; the dragged piece is on top.
function inOrder(pieces, drag) {
  const place = ([square, { name }]) => (drag?.square === square ? Infinity : name);
  return Object.entries(pieces).sort((first, second) => (place(first) > place(second) ? 1 : -1));
}

// The pieces to choose from, at the square; a click beside them cancels the move.
function Promotion({ black, column, below, onChoose, onClose }) {
  const box = useRef(null);
  const buttons = () => [...box.current.querySelectorAll("button")];
  useLayoutEffect(() => buttons()[0].focus(), []);  // before a key can reach the board
  const key = (event) => {
    const step = { Tab: event.shiftKey ? -1 : 1, ArrowUp: below ? -1 : 1, ArrowDown: below ? 1 : -1 }[event.key];
    if (event.key === "Escape") onClose();
    else if (step) buttons().at((buttons().indexOf(document.activeElement) + step) % 4).focus();
    else return;
    event.preventDefault();
  };
  return html`
    <div ref=${box} class=${`promotion ${below ? "below" : "above"}`} role="dialog" aria-modal="true" aria-label="Promote to"
      onKeyDown=${key} onClick=${(event) => event.target === box.current && onClose()}>
      <div style=${{ left: `${12.5 * column}%` }}>
        ${["q", "n", "r", "b"].map((letter) => html`
          <button type="button" aria-label=${PIECES[letter.toUpperCase()]} onClick=${() => onChoose(letter)}>
            <img src=${art(black ? letter : letter.toUpperCase())} alt="" />
          </button>`)}
      </div>
    </div>`;
}

function say(square, standing, legal, from) {
  const what = standing[square] ? `${square} ${pieceName(standing[square].letter)}` : square;
  if (from) return `${what}; ${legal.some((move) => move.startsWith(from + square)) ? "can go here" : "not from here"}`;
  return what;
}

// People's favourites in one colour and search's in another; only the hovered move, if any.
function arrows(rows, hovered) {
  if (hovered) {
    const row = rows.find((each) => same(each.move, hovered));
    return row ? [[row, "hover", 0.16, 0.9]] : [];
  }
  const likely = (kind) => rows.filter((row) => row[kind] >= 0.1).slice(0, 4);
  const [people, search] = [likely("anchor"), likely("policy")];
  const drawn = (own, others, kind, width, aside) =>
    own.map((row) => [row, kind, width(row), 0.85, others.includes(row) ? aside : 0]);
  return [
    ...drawn(people, search, "people", (row) => 0.04 + 0.12 * row.anchor, 0.1),
    ...drawn(search, people, "search", (row) => 0.04 + 0.12 * row.policy, -0.1),
  ];
}

// An arrow; two arrows for one move go side by side.
function Arrow({ from, to, kind, width, opacity, aside = 0 }) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  [from, to] = [from, to].map(([px, py]) => [px - uy * aside, py + ux * aside]);
  const head = Math.max(0.18, 2 * width);
  const neck = [to[0] - ux * (head + 0.1), to[1] - uy * (head + 0.1)];
  const tip = [to[0] - ux * 0.1, to[1] - uy * 0.1];
  const side = head * 0.6;
  return html`
    <g class=${`arrow ${kind}`} opacity=${opacity}>
      <line x1=${from[0]} y1=${from[1]} x2=${neck[0]} y2=${neck[1]} stroke-width=${width} />
      <polygon points=${`${tip} ${[neck[0] - uy * side, neck[1] + ux * side]} ${[neck[0] + uy * side, neck[1] - ux * side]}`} />
    </g>`;
}

// Hanabi: the others' cards on top, your own face down below, and the fireworks between them.
import { html, useEffect, useLayoutEffect, useRef, useState } from "/static/vendor/preact-htm.js";
import { whoSits } from "/static/js/side.js";

// Every colour has a letter and a shape, for colour-blind players.
const COLOURS = [
  { letter: "R", word: "red", shape: "▲" },
  { letter: "Y", word: "yellow", shape: "★" },
  { letter: "G", word: "green", shape: "✚" },
  { letter: "W", word: "white", shape: "○" },
  { letter: "B", word: "blue", shape: "◆" },
];
const RANKS = [1, 2, 3, 4, 5];
const COPIES = { 1: 3, 2: 2, 3: 2, 4: 2, 5: 1 };
const PLAYERS = ["Alice", "Bob", "Cathy", "Donald", "Emily"];
// The rule book's words for a score.
const PRAISE = [[25, "legendary"], [21, "amazing"], [16, "excellent"], [11, "honourable"], [6, "mediocre"], [0, "horrible"]];

export const setup = { players: 2, bomb: "stack" };
export const once = ["seed"];
export const hides = true;
export const undoes = false;
export const number = (ply) => `${ply + 1}.`;
export const seatNames = (setup) => PLAYERS.slice(0, setup.players);
export const peopleOnly = (setup) =>
  (setup.players > 2 ? "Agents play with two players; with more, all are people." : null);

export function Setup({ setup, onChange }) {
  return html`
    <label><span>Players</span>
      <select value=${setup.players} onChange=${(event) => onChange({ ...setup, players: Number(event.target.value) })}>
        <option value="2">2</option>
        ${[3, 4, 5].map((count) => html`<option value=${count}>${count} people, without kedge</option>`)}
      </select></label>
    <label><span>When the last life is lost</span>
      <select value=${setup.bomb} onChange=${(event) => onChange({ ...setup, bomb: event.target.value })}>
        <option value="stack">what was built counts</option>
        <option value="zero">the score is 0; search has little to go by then</option>
      </select></label>
    <label><span>Deck number</span>
      <input type="number" min="0" step="1" placeholder="any deck" onChange=${(event) => {
        const { seed, ...others } = setup;
        onChange(event.target.value ? { ...others, seed: Number(event.target.value) } : others);
      }} /></label>`;
}

export function Board({ session, thought, hovered, onPlay, mine, seat, covered, onLook }) {
  const { position, seats } = session;
  const [chosen, setChosen] = useState(null);  // { seat, slot }
  const [pointed, setPointed] = useState(null);  // a move, at its button
  const bar = useRef(null);
  const canPlay = mine.length > 0 && !covered;
  useEffect(() => { setChosen(null); setPointed(null); }, [session.turns.length, covered]);
  // Keyboards go on at the moves of the chosen card.
  useLayoutEffect(() => { if (chosen) bar.current.querySelector("button:enabled")?.focus(); }, [chosen]);

  const moves = chosen ? movesOf(position, chosen, seat, seats) : [];
  const move = pointed || hovered;
  const play = (text) => { bar.current.focus(); onPlay(text); };
  const choose = (where) => canPlay && setChosen(isAt(chosen, where) ? null : where);
  const leave = (event) => {
    if (event.key !== "Escape" || !chosen) return;
    event.currentTarget.querySelector('[aria-pressed="true"]')?.focus();
    setChosen(null);
  };
  const here = !covered && thought && thought.turn === session.turns.length ? thought : null;
  const hand = (owner) => html`
    <${Hand} key=${owner} owner=${owner} own=${owner === seat && seats[seat].human && !session.recorded} session=${session} move=${move}
      thought=${here} chosen=${chosen} canPlay=${canPlay} onChoose=${choose} />`;
  const others = seats.map((_, i) => (seat + 1 + i) % seats.length).filter((owner) => owner !== seat);

  return html`
    <div class="hanabi-table" onKeyDown=${leave}>
      ${!covered && html`<div class="others">${others.map(hand)}</div>`}
      <${Middle} position=${position} />
      ${covered ? html`<${Cover} session=${session} seat=${mine[0]} onLook=${onLook} />` : hand(seat)}
      <div class="choices" ref=${bar} tabindex="-1" role="group" aria-label="What you can do">
        ${session.outcome
          ? html`<${Ending} position=${position} />`
          : moves.map(({ text, words, can, why }) => html`
              <button key=${text} type="button" disabled=${!can} title=${can ? undefined : why}
                onClick=${() => play(text)}
                onMouseEnter=${() => setPointed(text)} onMouseLeave=${() => setPointed(null)}
                onFocus=${() => setPointed(text)} onBlur=${() => setPointed(null)}>${words}</button>`)}
        ${!moves.length && canPlay && html`
          <span class="quietly">Choose a card of your own to play or discard, or another's to give a hint.</span>`}
      </div>
      <p class="last-said" role="status">${position.last ? position.last.said : " "}</p>
    </div>`;
}

const isAt = (place, other) => place !== null && place.seat === other.seat && place.slot === other.slot;

// The moves with a card: play or discard your own, give hints about another's.
function movesOf(position, { seat, slot }, own, seats) {
  const choice = (text, words, why) => ({ text, words, why, can: position.legal.includes(text) });
  if (seat === own) {
    return [
      choice(`play card ${slot + 1}`, `Play card ${slot + 1}`, ""),
      choice(`discard card ${slot + 1}`, `Discard card ${slot + 1}`, "No discard while all hints are there"),
    ];
  }
  const { card } = position.hands[seat][slot];
  const hint = (what) => {
    const text = `tell player ${seat} ${what}`;
    const count = position.hands[seat].filter((_, at) => touches(position, text, seat, at)).length;
    return choice(text, `Tell ${seats[seat].name} ${what} (touches ${count})`, "No hint is left");
  };
  return [hint(colourOf(card).word), hint(`${card[1]}s`)];
}

const colourOf = (card) => COLOURS.find(({ letter }) => letter === card[0]);

// Whether a move is about a card.
function touches(position, move, seat, slot) {
  const [, used] = /^(?:play|discard) card (\d)$/.exec(move || "") || [];
  if (used) return seat === position.player && slot === used - 1;
  const [, whom, what] = /^tell player (\d) (\w+)$/.exec(move || "") || [];
  const card = whom && Number(whom) === seat && position.hands[seat][slot].card;
  return Boolean(card) && (what === `${card[1]}s` || what === colourOf(card).word);
}

function Hand({ owner, own, session, move, thought, chosen, canPlay, onChoose }) {
  const { position, seats } = session;
  const { name, human } = seats[owner];
  const last = position.last && position.last.told === owner ? position.last.touched : [];
  return html`
    <section class=${`hand ${position.player === owner ? "to-move" : ""}`}
      aria-label=${own ? `${name}: your own cards, the oldest first` : `${name}'s cards, the oldest first`}>
      <h2>${name} <span class="who">${own || !human || session.recorded ? whoSits(session, owner) : ""}</span></h2>
      <ol>
        ${position.hands[owner].map((view, slot) => {
          const where = { seat: owner, slot };
          const marks = [
            touches(position, move, owner, slot) && "pointed",
            last.includes(slot) && "hinted",
            isAt(chosen, where) && "chosen",
          ];
          return html`
            <li key=${slot}>
              <${Heat} thought=${thought} position=${position} seat=${owner} slot=${slot} />
              <button type="button" class=${`slot ${marks.filter(Boolean).join(" ")}`}
                aria-disabled=${!canPlay} aria-pressed=${isAt(chosen, where)}
                aria-label=${labelOf(view, slot, own)} onClick=${() => onChoose(where)}>
                <${Face} view=${view} />
                <${Pips} view=${view} />
              </button>
            </li>`;
        })}
      </ol>
    </section>`;
}

function Face({ view }) {
  const colour = view.card ? colourOf(view.card) : view.colours.length === 1 ? COLOURS[view.colours[0]] : null;
  const rank = view.card ? view.card[1] : view.ranks.length === 1 ? view.ranks[0] : colour ? "" : "?";
  return html`
    <span class=${`face ${colour ? colour.word : "back"} ${view.card ? "" : "hidden"}`}>
      <span class="rank">${rank}</span>
      ${colour && html`<span class="shape">${colour.shape}</span>`}
    </span>`;
}

// What a card may be by its hints; what a hint named is bold.
function Pips({ view }) {
  const kind = (may, named) => (named ? "hinted" : may ? "may" : "not");
  return html`
    <span class="pips" aria-hidden="true">
      ${COLOURS.map(({ letter, word }, i) => html`
        <i class=${`${word} ${kind(view.colours.includes(i), view.colour === i)}`}>${letter}</i>`)}
      ${RANKS.map((rank) => html`
        <i class=${kind(view.ranks.includes(rank), view.rank === rank)}>${rank}</i>`)}
    </span>`;
}

// The probability that people, and search, choose a move with this card.
function Heat({ thought, position, seat, slot }) {
  const about = thought ? thought.rows.filter((row) => touches(position, row.move, seat, slot)) : [];
  const sum = (kind) => about.reduce((total, row) => total + row[kind], 0);
  return html`
    <svg class="heat" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect class="people" width=${100 * sum("anchor")} height="3.5" />
      <rect class="search" y="4.5" width=${100 * sum("policy")} height="3.5" />
    </svg>`;
}

function labelOf(view, slot, own) {
  const colours = view.colours.map((i) => COLOURS[i].word).join(" or ");
  const known = `${view.colours.length === 5 ? "any colour" : colours}, ${view.ranks.length === 5 ? "any rank" : view.ranks.join(" or ")}`;
  if (!view.card) return `Card ${slot + 1}: ${known}`;
  return `Card ${slot + 1}: ${colourOf(view.card).word} ${view.card[1]}; ${own ? "you were told" : "its holder knows"}: ${known}`;
}

function Middle({ position }) {
  const { fireworks, information, lives, deck, score } = position;
  return html`
    <div class="hanabi-middle">
      <ol class="fireworks" aria-label="Fireworks">
        ${COLOURS.map(({ word, shape }, i) => html`
          <li key=${word} aria-label=${`${word}: ${fireworks[i]} of 5`}>
            <span class=${`face ${word} ${fireworks[i] ? "" : "empty"}`}>
              <span class="rank">${fireworks[i] || ""}</span><span class="shape">${shape}</span>
            </span>
            <span class=${`built ${word}`}>${RANKS.map((rank) => html`<i class=${rank <= fireworks[i] ? "on" : ""}></i>`)}</span>
          </li>`)}
      </ol>
      <dl class="tokens">
        <div><dt>Score</dt><dd><strong>${score[0]}</strong> of ${score[1]}</dd></div>
        <div><dt>Hints</dt><dd><${Tokens} kind="hint" left=${information} /></dd></div>
        <div><dt>Lives</dt><dd><${Tokens} kind="life" left=${lives} /></dd></div>
        <div><dt>Deck</dt><dd><strong>${deck}</strong> ${deck ? "to draw" : "left: the last turns"}</dd></div>
      </dl>
      <${Discards} position=${position} />
    </div>`;
}

function Tokens({ kind, left: [left, most] }) {
  return html`
    <span class="token-row" role="img" aria-label=${`${left} of ${most}`}>
      ${Array.from({ length: most }, (_, i) => html`<i class=${`token ${kind} ${i < left ? "on" : ""}`}></i>`)}
    </span>`;
}

function Discards({ position }) {
  const count = (card) => position.discards.filter((discard) => discard === card).length;
  return html`
    <table class="discards">
      <caption>Discards</caption>
      <tbody>
        ${COLOURS.map(({ letter, word, shape }, i) => html`
          <tr key=${word}>
            <th scope="row"><span class=${`chip ${word}`} aria-hidden="true">${shape}</span><span class="sr">${word}</span></th>
            ${RANKS.map((rank) => {
              const thrown = count(letter + rank);
              const lost = thrown === COPIES[rank] && rank > position.fireworks[i];
              return html`
                <td class=${lost ? "lost" : ""} title=${lost ? `no ${word} ${rank} is left` : undefined}>
                  ${thrown ? `${rank}`.repeat(thrown) : html`<span class="none">·</span>`}</td>`;
            })}
          </tr>`)}
      </tbody>
    </table>`;
}

// On a shared screen, the cards stay covered until the next player asks.
function Cover({ session, seat, onLook }) {
  const { name } = session.seats[seat] || { name: "Nobody" };
  return html`
    <section class="cover card" aria-label="The cards are covered">
      <h2>${name} is next</h2>
      <p>Everyone else, look away.</p>
      <button class="main" type="button" onClick=${onLook}>I am ${name}, show</button>
      <p class="quietly">Or use one screen per player: ${session.seats.map((player, at) => html`
        <a href=${`#/s/${session.id}/${at}`}>${player.name}</a> `)}</p>
    </section>`;
}

function Ending({ position }) {
  const [score, most] = position.score;
  const [, praise] = PRAISE.find(([least]) => score >= least);
  return html`<p class="ending"><strong>${score}</strong> of ${most} <span>${praise}</span></p>`;
}

// The likely cards in the hand of the player to move.
export function Extra({ thought }) {
  const cards = thought?.more.cards;
  if (!cards) return null;
  return html`
    <h3>Likely cards in hand</h3>
    <ol class="beliefs">
      ${cards.map((slot, i) => html`
        <li key=${i} aria-label=${`card ${i + 1}: ${slot.slice(0, 3).map(([card, share]) => `${card} ${percent(share)}`).join(", ")}`}>
          <span>${i + 1}</span>
          <span class="belief">
            ${slot.map(([card, share]) => html`
              <i key=${card} class=${colourOf(card).word} title=${`${card} ${percent(share)}`}
                style=${{ flexGrow: share }}>${share >= 0.1 ? card : ""}</i>`)}
          </span>
          <span class="number">${slot[0][0]} ${percent(slot[0][1])}</span>
        </li>`)}
    </ol>`;
}

const percent = (share) => `${Math.round(100 * share)} %`;

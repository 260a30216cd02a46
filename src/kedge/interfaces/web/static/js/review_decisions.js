// The review of a game whose decisions search values by themselves: Hanabi, and Diplomacy's seven powers.
import { html, useState } from "../vendor/preact-htm.js";
import { Curve } from "./curve.js";
import { turnName } from "./games.js";
import { MARKS } from "./score.js";

const RARE = 0.05; // orders that fewer people give stand out

// How each game counts what a decision is worth.
const POINTS = { most: 25, worth: (value) => `${value.toFixed(1)} points`, loss: (value) => `${value.toFixed(1)} points` };
const SHARES = { most: null, worth: (value) => percent(value), loss: (value) => `${percent(value)} of the game` };
const countsOf = ({ scale }) => (scale.unit === "points" ? POINTS : SHARES);

export function Decisions({ report, session, shown, onShow }) {
  const own = session.seats.findIndex((seat) => seat.human);
  const [whose, setWhose] = useState(Math.max(0, own));
  // Where all win or lose together there is one line, and everyone's decisions are looked at.
  const together = report.values[0].length === 1;
  const isAsked = ({ player }) => together || player === whose;
  const moments = report.disagreements.map((i) => report.decisions[i]).filter(isAsked);
  const show = (one) => { setWhose(one.player); onShow(one.turn + 1); };
  return html`
    ${!together && html`
      <label class="whose"><span>Orders of</span>
        <select value=${whose} onChange=${(event) => setWhose(Number(event.target.value))}>
          ${session.seats.map(({ name }, seat) => html`<option key=${name} value=${seat}>${name}</option>`)}
        </select></label>`}
    <${Worth} report=${report} session=${session} whose=${together ? 0 : whose} isAsked=${isAsked}
      moments=${moments} shown=${shown} onShow=${onShow} />
    <${Decided} report=${report} session=${session} shown=${shown} isAsked=${isAsked} whose=${whose} />
    ${moments.length > 0 && html`
      <h3>Where search and people part ways</h3>
      <ul class="moments">
        ${moments.map((one) => html`
          <li key=${`${one.turn} ${one.player}`}><button type="button" class="link" onClick=${() => show(one)}>
            ${together ? turnName(one.turn, session) : session.turns[one.turn].name}${one.mark}</button>
            <small>KL ${one.kl_to_anchor.toFixed(2)}</small>
            <span>search ${other(one.choice, one.people[0], session)} ${percent(one.choice.policy)},
              ${" "}people ${other(one.people[0], one.choice, session)} ${percent(one.people[0].anchor)}</span></li>`)}
      </ul>`}
    <${Players} report=${report} session=${session} />`;
}

// What was expected of the game, of all or of each player, the asked one's line first.
function Worth({ report, session, whose, isAsked, moments, shown, onShow }) {
  const counts = countsOf(report);
  const top = counts.most ?? Math.max(0.3, ...report.values.flat());
  const order = [whose, ...report.values[0].keys()].filter((seat, i, all) => all.indexOf(seat) === i);
  const lines = order.map((seat) => ({
    heights: report.values.map((row) => row[seat] / top),
    filled: order.length === 1,
    kind: order.length > 1 ? `power ${session.seats[seat].name.toUpperCase()} ${seat === whose ? "asked" : ""}` : "",
  }));
  const who = order.length > 1 ? `${session.seats[whose].name} ` : "";
  const said = (turn) => `${who}${counts.worth(report.values[turn][whose])} ${
    turn === report.values.length - 1 && session.outcome ? "in the end" : "expected"}${
    turn > 0 ? ` after ${turnName(turn - 1, session)}` : ""}`;
  const steps = report.mistakes.map((i) => report.decisions[i]).filter(isAsked)
    .map(({ turn, mark }) => ({ ply: turn, kind: MARKS[mark] }));
  return html`
    <${Curve} lines=${lines} steps=${steps} moments=${moments.map(({ turn }) => turn)} said=${said}
      label=${`What was expected, from ${said(0)} to ${said(report.values.length - 1)}`}
      shown=${shown} onShow=${onShow} />`;
}

// The decision that led to where the board stands, beside what people and search would have decided.
function Decided({ report, session, shown, isAsked, whose }) {
  const turn = report.decisions.findLast((one) => one.turn < shown)?.turn;
  const one = report.decisions.find((found) => found.turn === turn && isAsked(found));
  if (turn === undefined) return html`<p class="chosen">Choose a turn to see how human it was.</p>`;
  if (!one) return html`<p class="chosen">${session.seats[whose].name} ordered nothing in ${session.turns[turn].name}.</p>`;
  const { worth, loss } = countsOf(report);
  const favourite = one.people[0];
  const cost = one.loss === null || one.loss < report.scale.mistake / 10 ? "" : `; search expects ${loss(one.loss)} more`;
  const words = one.rank === 1 ? "what most people do" : `${percent(one.played.anchor)} of people`;
  const rows = [["decided", one.played], ["most people", favourite], ["search", one.choice]];
  return html`
    <div class="chosen decided">
      <p><strong>${turnName(turn, session)}${one.mark}</strong> ${words}${cost}.</p>
      ${one.parts.length > 0 && html`
        <ul class="parts" aria-label="How many people give each order">
          ${one.parts.map((part) => html`
            <li key=${part.move} class=${part.anchor < RARE ? "rare" : ""}>
              <span>${part.name}</span>
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="people" width=${100 * part.anchor} height="8" /></svg>
              <span class="number">${percent(part.anchor)}</span></li>`)}
        </ul>`}
      <table>
        <thead><tr><td></td><td></td><th scope="col">people</th><th scope="col">search</th>
          <th scope="col">worth</th></tr></thead>
        <tbody>
          ${rows.map(([label, option]) => html`
            <tr key=${label}><th scope="row">${label}</th>
              <td class="what">${label === "decided" && one.parts.length ? "the above" : other(option, one.played, session)}</td>
              <td class="number people">${percent(option.anchor)}</td>
              <td class="number search">${percent(option.policy)}</td>
              <td class="number">${option.q === null ? "–" : worth(option.q)}</td></tr>`)}
        </tbody>
      </table>
    </div>`;
}

function Players({ report, session }) {
  const { loss } = countsOf(report);
  const shown = report.players.map((player, seat) => ({ ...player, name: session.seats[seat].name }))
    .filter(({ decisions }) => decisions > 0);
  return html`
    <table class="players by-row">
      <thead><tr><td></td><th scope="col" title="how often it was what most people do">first choice</th>
        <th scope="col" title="how many people decide so, on average">likely</th>
        <th scope="col" title="a decision, of what search expects">lost</th><th scope="col">?, ??</th></tr></thead>
      <tbody>
        ${shown.map((player) => html`
          <tr key=${player.name}><th scope="row">${player.name}</th><td>${percent(player.top1)}</td>
            <td>${percent(player.probability)}</td>
            <td>${player.loss === null ? "–" : loss(player.loss).replace(" of the game", "")}</td>
            <td>${player.mistakes}, ${player.blunders}</td></tr>`)}
      </tbody>
    </table>`;
}

// Behind each turn the worst of what people decided in it, or of everyone where no person plays.
export function worstMarks(report, session) {
  const people = session.seats.some((seat) => seat.human);
  const marks = [];
  for (const { turn, player, mark } of report.decisions) {
    if (people && !session.seats[player].human) continue;
    const known = marks[turn] || "";
    if (Object.keys(MARKS).indexOf(mark) > Object.keys(MARKS).indexOf(known)) marks[turn] = mark;
  }
  return marks;
}

// Of orders those that are not the other's; a move with the players' names.
function other(option, than, session) {
  if (typeof option.move === "string") return option.name.replace(/\bplayer (\d)/, (_, seat) => session.seats[seat].name);
  const names = option.name.split(", ").filter((_, i) => !than.move.includes(option.move[i]));
  if (!names.length) return "the same";
  return names.length < option.move.length ? `${names.join(", ")} (else the same)` : names.join(", ");
}

export function percent(share) {
  return share > 0 && share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`;
}

// The review of a game in which search values each decision alone.
import { html, useState } from "../../vendor/preact-htm.js";
import { Curve } from "./curve.js";
import { turnName } from "../games.js";
import { MARKS } from "./score.js";
import { same } from "../why.js";

const RARE = 0.05; // less likely orders stand out

// The units of a decision's value.
const POINTS = { least: 10, number: (value) => value.toFixed(1), unit: "points", heading: "points" };
const SHARES = { least: 0.3, number: (value) => percent(value), unit: "of the game", heading: "share" };
const countsOf = ({ scale }) => (scale.unit === "points" ? POINTS : SHARES);

export function Decisions({ report, session, shown, onShow }) {
  const own = session.seats.findIndex((seat) => seat.human);
  const [whose, setWhose] = useState(Math.max(0, own));
  // If all win or lose together, there is one line for all.
  const together = report.values[0].length === 1;
  const isSelected = ({ player }) => together || player === whose;
  const moments = report.disagreements.map((i) => report.decisions[i]).filter(isSelected);
  const show = (decision) => { setWhose(decision.player); onShow(decision.turn + 1); };
  return html`
    ${!together && html`
      <p class="whose">Orders of
        <select aria-label="Whose orders are reviewed" value=${whose} onChange=${(event) => setWhose(Number(event.target.value))}>
          ${session.seats.map(({ name }, seat) => html`<option key=${name} value=${seat}>${name}</option>`)}
        </select></p>`}
    <${Worth} report=${report} session=${session} whose=${together ? 0 : whose} isSelected=${isSelected}
      moments=${moments} shown=${shown} onShow=${onShow} />
    <${Decided} report=${report} session=${session} shown=${shown} isSelected=${isSelected} whose=${whose} />
    ${moments.length > 0 && html`
      <h3>Where search and people disagree</h3>
      <ul class="moments">
        ${moments.map((decision) => html`
          <li key=${`${decision.turn} ${decision.player}`}><button type="button" class="link" onClick=${() => show(decision)}>
            ${together ? turnName(decision.turn, session) : session.turns[decision.turn].name}${decision.mark}</button>
            <small>KL ${decision.kl_to_anchor.toFixed(2)}</small>
            <span>search ${other(decision.choice, decision.people[0], session)} (${percent(decision.choice.policy)}),
              ${" "}people ${other(decision.people[0], decision.choice, session)} (${percent(decision.people[0].anchor)})</span></li>`)}
      </ul>`}
    <${Players} report=${report} session=${session} />`;
}

// The expected result over the game, for all or for each player; the selected player's line first.
function Worth({ report, session, whose, isSelected, moments, shown, onShow }) {
  const counts = countsOf(report);
  const top = 1.1 * Math.max(counts.least, ...report.values.flat());
  const order = [whose, ...report.values[0].keys()].filter((seat, i, all) => all.indexOf(seat) === i);
  const lines = order.map((seat) => ({
    heights: report.values.map((row) => row[seat] / top),
    filled: order.length === 1,
    kind: order.length > 1 ? `power ${session.seats[seat].name.toUpperCase()} ${seat === whose ? "selected" : ""}` : "",
  }));
  const who = order.length > 1 ? `${session.seats[whose].name} ` : "";
  const describe = (turn) => `${who}${counts.number(report.values[turn][whose])} ${counts.unit} ${
    turn === report.values.length - 1 && session.outcome ? "in the end" : "expected"}${
    turn > 0 ? ` after ${turnName(turn - 1, session)}` : ""}`;
  const steps = report.mistakes.map((i) => report.decisions[i]).filter(isSelected)
    .map(({ turn, mark }) => ({ ply: turn, kind: MARKS[mark] }));
  return html`
    <${Curve} lines=${lines} steps=${steps} moments=${moments.map(({ turn }) => turn + 1)} describe=${describe}
      label=${`Expected result, from ${describe(0)} to ${describe(report.values.length - 1)}`}
      shown=${shown} onShow=${onShow} />`;
}

// The decision that led to the shown position, beside those of people and search.
function Decided({ report, session, shown, isSelected, whose }) {
  const turn = report.decisions.findLast((decision) => decision.turn < shown)?.turn;
  const decision = report.decisions.find((each) => each.turn === turn && isSelected(each));
  if (turn === undefined) return html`<p class="chosen">Select a turn to see how human it was.</p>`;
  if (!decision) return html`<p class="chosen">${session.seats[whose].name} ordered nothing in ${session.turns[turn].name}.</p>`;
  const { number, unit, heading } = countsOf(report);
  const slight = decision.loss === null || decision.loss < report.scale.mistake / 10;
  const words = [`${percent(decision.played.anchor)} of people${decision.rank === 1 ? ", more than anything else" : ""}`];
  if (same(decision.choice.move, decision.played.move)) words.push("search would, too");
  else if (!slight) words.push(`search expects ${number(decision.loss)} ${unit} more of its choice`);
  return html`
    <div class="chosen decided">
      <p><strong>${turnName(turn, session)}${decision.mark}</strong> ${words.join("; ")}.</p>
      ${decision.parts.length > 0 && html`
        <ul class="parts" aria-label="How many people give each order">
          ${decision.parts.map((part) => html`
            <li key=${part.move} class=${part.anchor < RARE ? "rare" : ""}>
              <span>${part.name}</span>
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect class="people" width=${100 * part.anchor} height="8" /></svg>
              <span class="number">${percent(part.anchor)}</span></li>`)}
        </ul>`}
      <table>
        <thead><tr><td></td><th scope="col">people</th><th scope="col">search</th><th scope="col">${heading}</th></tr></thead>
        <tbody>
          ${optionsOf(decision).map(([label, option]) => html`
            <tr key=${label}>
              <th scope="row"><small>${label}</small>
                ${option === decision.played && decision.parts.length > 0 ? "" : other(option, decision.played, session)}</th>
              <td class="number people">${percent(option.anchor)}</td>
              <td class="number search">${percent(option.policy)}</td>
              <td class="number">${option.q === null ? "–" : number(option.q)}</td></tr>`)}
        </tbody>
      </table>
    </div>`;
}

// The decision, people's favourite and search's choice, without repetition.
function optionsOf({ played, people: [favourite], choice, parts }) {
  const instead = parts.length ? " instead" : "";
  const rows = [[parts.length ? "as ordered" : "decided", played]];
  if (!same(favourite.move, played.move)) rows.push([`most people${instead}`, favourite]);
  else rows[0][0] += ", as most people would";
  const before = rows.find(([, option]) => same(option.move, choice.move));
  if (before) before[0] = before[1] === played ? `${before[0]}, as search would` : `search and ${before[0]}`;
  else rows.push([`search${instead}`, choice]);
  return rows;
}

function Players({ report, session }) {
  const { number } = countsOf(report);
  const shown = report.players.map((player, seat) => ({ ...player, name: session.seats[seat].name }))
    .filter(({ decisions }) => decisions > 0);
  return html`
    <table class="players by-row">
      <thead><tr><td></td><th scope="col" title="how often it was people's favourite">first choice</th>
        <th scope="col" title="average share of people who decide the same">likely</th>
        <th scope="col" title="average loss per decision, by search">lost</th><th scope="col">?, ??</th></tr></thead>
      <tbody>
        ${shown.map((player) => html`
          <tr key=${player.name}><th scope="row">${player.name}</th><td>${percent(player.top1)}</td>
            <td>${percent(player.probability)}</td>
            <td>${player.loss === null ? "–" : number(player.loss)}</td>
            <td>${player.mistakes}, ${player.blunders}</td></tr>`)}
      </tbody>
    </table>`;
}

// The worst mark of each turn: of people's decisions, or of everyone's if no person plays.
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

// The orders that differ from `than`; or the move, with the players' names.
function other(option, than, session) {
  if (typeof option.move === "string") return option.name.replace(/\bplayer (\d)/, (_, seat) => session.seats[seat].name);
  const names = option.name.split(", ").filter((_, i) => !than.move.includes(option.move[i]));
  return names.join(", ");
}

export function percent(share) {
  return share > 0 && share < 0.005 ? "<1\u00a0%" : `${Math.round(100 * share)}\u00a0%`;
}

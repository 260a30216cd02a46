// The review of a game: its value, how human each move was, and where search and people disagree.
import { html } from "../../vendor/preact-htm.js";
import { Curve } from "./curve.js";
import { movesOf, turnName } from "../games.js";
import { Decisions, percent, worstMarks } from "./review_decisions.js";
import { MARKS } from "./score.js";
import { same } from "../why.js";

// Whether a review is of this game: of its first turns, none of which was undone.
export function isOf({ turns, of }, session) {
  if (!turns) return of === session.turns.length;
  return !session.secret && same(turns, movesOf(session).slice(0, of));
}

// Marks such as ?! behind each turn.
export function marksOf(report, session) {
  return report.moves ? report.moves.map((move) => move.mark) : worstMarks(report, session);
}

export function Review({ review, session, shown, onShow, onBegin, onStop }) {
  const isBehind = review && review.of < session.turns.length;
  const Shown = review?.report?.moves ? Report : Decisions;
  return html`
    <section class="review card" aria-label="Review">
      <h2>Review</h2>
      ${review?.trouble && html`<p class="trouble">${review.trouble}</p>`}
      ${review && !review.report && !review.trouble
        ? html`<label class="progress"><span>Reviewing the moves…</span>
            <progress max=${review.of} value=${review.done || undefined} /></label>
          <p><button type="button" onClick=${onStop}>Stop</button></p>`
        : (!review?.report || isBehind) && html`
          <p><button type="button" disabled=${!session.turns.length || session.secret} onClick=${onBegin}>
            ${isBehind ? "Review the new moves" : "Review the game"}</button>
            ${session.secret && html` <small>once the game is over</small>`}</p>`}
      ${review?.report && html`<${Shown} report=${review.report} session=${session} shown=${shown} onShow=${onShow} />`}
    </section>`;
}

function Report({ report, session, shown, onShow }) {
  const move = report.moves[shown - 1];
  const names = report.players.map((_, seat) => session.seats[seat].name);
  return html`
    <${Score} report=${report} session=${session} shown=${shown} onShow=${onShow} />
    <${Chosen} report=${report} move=${move} session=${session} />
    <table class="players">
      <thead><tr><td></td>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>
        ${report.players.some((player) => player.fit) && row("plays like", report, ({ fit }) =>
          fit && plus(fit))}
        ${row("people's first choice", report, ({ top1 }) => top1 !== null && percent(top1))}
        ${row("score kept per move", report, ({ loss }) => loss !== null && `${(100 * (1 - loss)).toFixed(1)} %`)}
        ${row("? and ??", report, ({ mistakes, blunders }) => `${mistakes} and ${blunders}`)}
      </tbody>
    </table>
    ${report.disagreements.length > 0 && html`
      <h3>Where search and people disagree</h3>
      <ul class="moments">
        ${report.disagreements.map((ply) => report.moves[ply]).map((move) => html`
          <li key=${move.ply}><button type="button" class="link" onClick=${() => onShow(move.ply)}>
            before ${turnName(move.ply, session)}${move.mark}</button>
            <small>KL ${move.kl_to_anchor.toFixed(2)}</small>
            <span>search ${move.choice.name} ${percent(move.choice.policy)},
              ${" "}people ${move.people[0].name} ${percent(move.people[0].anchor)}</span></li>`)}
      </ul>`}`;
}

// The first player's expected score over the moves.
function Score({ report, session, shown, onShow }) {
  const values = [...report.moves.map((move) => move.value), report.value];
  const score = (value) => `${session.seats[0].name} ${percent((1 + value) / 2)}`;
  const describe = (turn) => `${score(values[turn])}${turn > 0 ? ` after ${turnName(turn - 1, session)}` : ""}`;
  return html`
    <${Curve} lines=${[{ heights: values.map((value) => (1 + value) / 2), filled: true }]} even=${0.5}
      label=${`Expected score, from ${score(values[0])} to ${score(values.at(-1))}`}
      steps=${report.mistakes.map((ply) => ({ ply, kind: MARKS[report.moves[ply].mark] }))}
      moments=${report.disagreements} describe=${describe} shown=${shown} onShow=${onShow} />`;
}

// The move that led to the shown position.
function Chosen({ report, move, session }) {
  if (!move) return html`<p class="chosen">Select a move to see how human it was.</p>`;
  const likely = report.likely?.[move.ply];
  const most = Math.max(0.01, ...(likely || []));
  const words = [`${percent(move.anchor)} of ${report.ratings ? those(report.ratings[move.player]) : "people"}`];
  if (move.choice.move === move.move) words.push("search plays it too");
  else words.push(`search prefers ${move.choice.name} (${percent(move.choice.policy)})`);
  if (move.loss >= 0.005) words.push(`costs ${move.loss.toFixed(2)} of a win`);
  const shares = report.knots?.map((knot, i) => `${knot} ${percent(likely[i])}`).join(", ");
  return html`
    <div class="chosen">
      <p><strong>${turnName(move.ply, session)}${move.mark}</strong> ${words.join("; ")}.</p>
      ${likely && html`
        <div class="strip" role="img" aria-label=${`How many people play it, by rating: ${shares}`}>
          ${likely.map((share, i) => html`
            <div key=${i} title=${`${percent(share)} of people rated ${report.knots[i]}`}>
              <svg viewBox="0 0 10 10" preserveAspectRatio="none" aria-hidden="true">
                <rect class="people" y=${10 - (10 * share) / most} width="10" height=${(10 * share) / most} /></svg>
              <span>${percent(share).replace("\u00a0", "")}</span><small>${report.knots[i]}</small>
            </div>`)}
        </div>`}
    </div>`;
}

const row = (name, report, shown) => html`
  <tr><th scope="row">${name}</th>${report.players.map((player) => html`<td>${shown(player) || "–"}</td>`)}</tr>`;
// A rating is a number; a rank is a word, and its error a number of ranks.
const those = (rating) => (typeof rating === "number" ? `${rating}s` : `${rating} players`);
const tens = (number) => 10 * Math.round(number / 10);
const plus = ({ rating, error }) =>
  typeof rating === "number" ? `${tens(rating)} ± ${tens(error)}` : `${rating} ± ${error}`;

// What a new game is told, before it begins. The next one is offered what this one was.
import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { api } from "./api.js";
import { likest } from "./dial.js";
import { GAMES, turnName } from "./games.js";
import { useHeading } from "./heading.js";
import { stored } from "./storage.js";

// One that begins where another stood after so many turns.
export function GameFrom({ game, id, turn }) {
  const [session, setSession] = useState(null);
  const [trouble, setTrouble] = useState(null);
  useEffect(() => void api.look(id).then(setSession, (error) => setTrouble(error.message)), [id]);
  if (trouble) return html`<p class="notice" role="alert">${trouble}</p>`;
  return session && html`<${NewGame} game=${game} from=${{ session, turn }} />`;
}

export function NewGame({ game, from }) {
  const look = GAMES[game.game];
  const usual = { mine: look.severalPeople ? [0] : 0, dial: 0.5, settings: {}, setup: look.setup };
  const [told, setTold] = useState({ ...usual, ...remembered(game.game) });
  const [trouble, setTrouble] = useState(null);
  const heading = useHeading();
  const tell = (news) => setTold({ ...told, ...news });
  const setup = from ? from.session.setup : told.setup;
  const names = look.seatNames ? look.seatNames(setup) : game.seats;
  const alone = look.peopleOnly?.(setup);
  const caveat = look.caveat?.(setup);
  const mine = alone ? "all" : told.mine >= names.length ? 0 : told.mine; // there may be fewer seats than last time

  const isMine = (seat) => (look.severalPeople ? mine.includes(seat) : mine === seat || mine === "all");
  const turn = (seat) => tell({ mine: isMine(seat) ? mine.filter((one) => one !== seat) : [...mine, seat] });
  const seats = () => names.map((_, seat) => ({ human: isMine(seat), dial: told.dial, settings: told.settings }));
  const go = (asked) => asked.then(
    (session) => {
      localStorage.setItem(`kedge-new-${game.game}`, JSON.stringify(told));
      location.hash = `#/s/${session.id}`;
    },
    (error) => setTrouble(error.message));
  const begin = (event) => {
    event.preventDefault();
    const turns = from ? from.session.document.slice(0, from.turn) : [];
    go(api.begin({ game: game.game, setup, turns, seats: seats() }));
  };
  const read = async (event) => {
    const file = event.target.files[0];
    if (file) go(api.read({ game: game.game, record: await file.text(), seats: seats() }));
    event.target.value = ""; // so that the same file may be tried again
  };
  const { Setup } = look;
  return html`
    <form class="new card" onSubmit=${begin}>
      <div><h1 ref=${heading} tabindex="-1">${look.title}</h1><p class="lead">${from ? positionName(from) : look.about}</p></div>
      <fieldset class="choice">
        <legend>You are</legend>
        ${look.severalPeople
          ? names.map((name, seat) => html`
            <label key=${name}><input type="checkbox" checked=${isMine(seat)}
              onChange=${() => turn(seat)} /><span>${name}</span></label>`)
          : [...names.entries(), ["all", "everyone"], [null, "watching"]].map(([seat, name]) => html`
            <label key=${name}><input type="radio" name="seat" checked=${mine === seat}
              disabled=${alone && seat !== "all"} onChange=${() => tell({ mine: seat })} /><span>${name}</span></label>`)}
      </fieldset>
      ${alone ? html`<p role="status">${alone}</p>` : html`
        <label class="slider"><span>The others play at <strong>${Math.round(100 * told.dial)}</strong> of 100</span>
          <input type="range" min="0" max="1" step="0.01" value=${told.dial}
            aria-valuetext=${`${Math.round(100 * told.dial)} of 100`}
            onInput=${(event) => tell({ dial: Number(event.target.value) })} />
          <span class="ends"><span>${likest(look.anchor || "people")}</span><span>as strong as it gets</span></span>
        </label>
        ${caveat && html`<p role="status">${caveat}</p>`}`}
      ${look.people && html`
        <${People} ...${look.people} settings=${told.settings} onChange=${(settings) => tell({ settings })} />`}
      ${Setup && !from && html`<${Setup} setup=${setup} onChange=${(setup) => tell({ setup })} />`}
      <p class="actions">
        <button class="main" type="submit">Begin</button>
        ${from && html`<a class="button" href=${`#/s/${from.session.id}`}>Back to the game</a>`}
        ${game.files.length > 0 && !from && html`
          <label class="button">Open a file…<input class="sr" type="file" accept=${game.files.join(",")}
            onChange=${read} /></label>`}
      </p>
      <p role="alert" class="trouble">${trouble}</p>
    </form>`;
}

const positionName = ({ session, turn }) =>
  (turn ? `From the position after ${turnName(turn - 1, session)}.` : "From the first position.");

// The number of the anchor: whom it plays like.
function People({ name, label, least, most, step, usual, settings, onChange }) {
  const value = settings[name] ?? usual;
  return html`
    <label class="slider"><span>${label} <strong>${value}</strong></span>
      <input type="range" min=${least} max=${most} step=${step} value=${value}
        onInput=${(event) => onChange({ ...settings, [name]: Number(event.target.value) })} />
    </label>`;
}

function remembered(game) {
  const told = stored(`kedge-new-${game}`, {});
  const { fen, seed, ...setup } = told.setup || {}; // a position and a deck are for once
  return { ...told, setup: { ...GAMES[game].setup, ...setup } };
}

// The form of a new game. It remembers the last choices.
import { html, useEffect, useState } from "../../vendor/preact-htm.js";
import { AgentChoice } from "./agent_choice.js";
import { api } from "../lib/api.js";
import { likest } from "./dial.js";
import { People } from "./people.js";
import { movesOf, turnName } from "../games.js";
import { useHeading } from "../lib/heading.js";
import { stored } from "../lib/storage.js";

// A new game from the position of another game after `turn` turns.
export function GameFrom({ game, id, turn }) {
  const [session, setSession] = useState(null);
  const [trouble, setTrouble] = useState(null);
  useEffect(() => void api.session(id).then(setSession, (error) => setTrouble(error.message)), [id]);
  if (trouble) return html`<p class="notice" role="alert">${trouble}</p>`;
  return session && html`<${NewGame} game=${game} from=${{ session, turn }} />`;
}

export function NewGame({ game, from }) {
  const usual = { mine: game.severalPeople ? [0] : 0, dial: 0.5, settings: {}, agent: game.agents[0], setup: game.setup };
  const [choices, setChoices] = useState({ ...usual, ...remembered(game) });
  const [trouble, setTrouble] = useState(null);
  const heading = useHeading();
  const change = (news) => setChoices({ ...choices, ...news });
  const setup = from ? from.session.setup : choices.setup;
  const names = game.seatNames ? game.seatNames(setup) : game.seats;
  const { agents, stops } = game;
  const alone = game.peopleOnly?.(setup) ?? (stops.length || agents.length ? null : "No agent plays this game; all players are people.");
  const caveat = game.caveat?.(setup);
  const mine = alone ? "all" : choices.mine >= names.length ? 0 : choices.mine; // there may be fewer seats than last time

  const isMine = (seat) => (game.severalPeople ? mine.includes(seat) : mine === seat || mine === "all");
  const turn = (seat) => change({ mine: isMine(seat) ? mine.filter((other) => other !== seat) : [...mine, seat] });
  const { dial, settings, agent } = choices;
  const player = agents.length ? { agent } : { dial, settings };
  const seats = () => names.map((_, seat) => ({ human: isMine(seat), ...(stops.length || agents.length ? player : {}) }));
  const open = (request) => request.then(
    (session) => {
      localStorage.setItem(`kedge-new-${game.game}`, JSON.stringify(choices));
      location.hash = `#/s/${session.id}`;
    },
    (error) => setTrouble(error.message));
  const begin = (event) => {
    event.preventDefault();
    const turns = from ? movesOf(from.session).slice(0, from.turn) : [];
    open(api.begin({ game: game.game, setup, turns, seats: seats() }));
  };
  const read = async (event) => {
    const file = event.target.files[0];
    if (file) open(api.read({ game: game.game, record: await file.text(), seats: seats() }));
    event.target.value = ""; // so that the same file can be tried again
  };
  const { Setup } = game;
  return html`
    <form class="new card" onSubmit=${begin}>
      <div><h1 ref=${heading} tabindex="-1">${game.title}</h1><p class="lead">${from ? positionName(from) : game.about}</p></div>
      <fieldset class="choice">
        <legend>You are</legend>
        ${game.severalPeople
          ? names.map((name, seat) => html`
            <label key=${name}><input type="checkbox" checked=${isMine(seat)}
              onChange=${() => turn(seat)} /><span>${name}</span></label>`)
          : [...names.entries(), ["all", "everyone"], [null, "watching"]].map(([seat, name]) => html`
            <label key=${name}><input type="radio" name="seat" checked=${mine === seat}
              disabled=${alone && seat !== "all"} onChange=${() => change({ mine: seat })} /><span>${name}</span></label>`)}
      </fieldset>
      ${alone ? html`<p role="status">${alone}</p>` : html`
        ${agents.length ? html`
          <${AgentChoice} label="Opponent" agents=${agents} agent=${agent} onChange=${(agent) => change({ agent })} />` : html`
          <label class="slider"><span>kedge plays at <strong>${Math.round(100 * dial)}</strong> of 100</span>
            <input type="range" min="0" max="1" step="0.01" value=${dial}
              aria-valuetext=${`${Math.round(100 * dial)} of 100`}
              onInput=${(event) => change({ dial: Number(event.target.value) })} />
            <span class="ends"><span>${likest(game.anchor || "people")}</span><span>as strong as it gets</span></span>
          </label>`}
        ${caveat && html`<p role="status">${caveat}</p>`}`}
      ${game.people && !alone && html`
        <${People} people=${game.people} settings=${settings} onChange=${(settings) => change({ settings })} />`}
      ${Setup && !from && html`<${Setup} setup=${setup} onChange=${(setup) => change({ setup })} />`}
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

function remembered({ game, setup, once = [] }) {
  const choices = stored(`kedge-new-${game}`, {});
  const lasting = Object.entries(choices.setup || {}).filter(([name]) => !once.includes(name));
  return { ...choices, setup: { ...setup, ...Object.fromEntries(lasting) } };
}

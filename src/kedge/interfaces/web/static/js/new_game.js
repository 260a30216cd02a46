// What a new game is told, before it begins.
import { html, useState } from "../vendor/preact-htm.js";
import { api } from "./api.js";
import { GAMES } from "./games.js";

export function NewGame({ game }) {
  const look = GAMES[game.game];
  const [setup, setSetup] = useState({ ...look.setup });
  const names = look.seatNames ? look.seatNames(setup) : game.seats;
  const [wanted, setMine] = useState(0);
  const [dial, setDial] = useState(0.5);
  const [trouble, setTrouble] = useState(null);
  const alone = look.peopleOnly?.(setup);
  const mine = alone ? "all" : wanted;

  const seats = () => names.map((_, seat) => ({ human: mine === seat || mine === "all", dial }));
  const go = (asked) => asked.then((session) => { location.hash = `#/s/${session.id}`; },
    (error) => setTrouble(error.message));
  const begin = (event) => {
    event.preventDefault();
    go(api.begin({ game: game.game, setup, seats: seats() }));
  };
  const read = async (event) => {
    const file = event.target.files[0];
    if (file) go(api.read({ game: game.game, record: await file.text(), seats: seats() }));
  };
  const { Setup } = look;
  return html`
    <form class="new card" onSubmit=${begin}>
      <h1>${look.title}</h1>
      <p class="lead">${look.about}</p>
      <fieldset class="choice">
        <legend>You are</legend>
        ${names.map((name, seat) => html`
          <label key=${name}><input type="radio" name="seat" checked=${mine === seat} disabled=${alone}
            onChange=${() => setMine(seat)} /><span>${name}</span></label>`)}
        <label><input type="radio" name="seat" checked=${mine === "all"}
          onChange=${() => setMine("all")} /><span>everyone</span></label>
        <label><input type="radio" name="seat" checked=${mine === null} disabled=${alone}
          onChange=${() => setMine(null)} /><span>watching</span></label>
      </fieldset>
      ${alone ? html`<p role="status">${alone}</p>` : html`
        <label class="slider"><span>The others play</span>
          <input type="range" min="0" max="1" step="0.01" value=${dial}
            aria-valuetext=${`${Math.round(100 * dial)} of 100`}
            onInput=${(event) => setDial(Number(event.target.value))} />
          <span class="ends"><span>like a person</span><span>as strong as it gets</span></span>
        </label>`}
      ${Setup && html`<${Setup} setup=${setup} onChange=${setSetup} />`}
      <p class="actions">
        <button class="main" type="submit">Begin</button>
        ${game.files.length > 0 && html`
          <label class="button">Open a file…<input class="sr" type="file" accept=${game.files.join(",")}
            onChange=${read} /></label>`}
      </p>
      <p role="alert" class="trouble">${trouble}</p>
    </form>`;
}

// Where the page stands, by the address behind the #, and what is drawn there.
import { html, render, useEffect, useState } from "../vendor/preact-htm.js";
import { api } from "./api.js";
import { GameView } from "./game_view.js";
import { unpack } from "./link.js";
import { GameFrom, NewGame } from "./new_game.js";
import { GAMES } from "./games.js";
import { stored } from "./storage.js";

// #/ all games, #/chess a new game, #/chess/ID/12 one from a position of another, #/s/ID one that was begun,
// #/s/ID/1 from a seat at it, #/link/PACKED one from a link
function useRoute() {
  const [route, setRoute] = useState(location.hash);
  useEffect(() => {
    const changed = () => setRoute(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route.replace(/^#\/?/, "").split("/");
}

function Page() {
  const [where, what, which] = useRoute();
  const [games, setGames] = useState(null);
  const [trouble, setTrouble] = useState(null);
  useEffect(() => void api.games().then(setGames, (error) => setTrouble(error.message)), []);
  const [broken, setBroken] = useState(null); // a link, by what it holds
  useEffect(() => {
    if (where !== "link") return;
    unpack(what)
      .catch(() => { throw new Error("it is damaged, or not all of it is here."); })
      .then((told) => (told.record ? api.read(told) : api.begin(told)))
      .then((session) => location.replace(`#/s/${session.id}`))
      .catch((error) => setBroken({ what, why: `The link cannot be followed: ${error.message}` }));
  }, [where, what]);

  return html`
    <${Top} games=${games} current=${where} />
    ${trouble && html`<p class="notice" role="alert">${trouble}</p>`}
    ${where === "link" && broken?.what === what && html`<p class="notice" role="alert">${broken.why}</p>`}
    ${where === "s"
      ? html`<${GameView} key=${`${what}/${which}`} id=${what} games=${games}
        seat=${which === undefined ? null : Number(which)} />`
      : games && html`<${Offer} games=${games} wanted=${where} from=${what} turn=${Number(which)} />`}
  `;
}

function Offer({ games, wanted, from, turn }) {
  const game = games.find((one) => one.game === wanted);
  useEffect(() => { document.title = game ? `${GAMES[game.game].title} – kedge` : "kedge"; }, [game]);
  if (game) {
    return html`<main>${from
      ? html`<${GameFrom} key=${from} game=${game} id=${from} turn=${turn} />`
      : html`<${NewGame} key=${game.game} game=${game} />`}</main>`;
  }
  return html`
    <main class="offer">
      <h1>Play someone who errs like a person</h1>
      <p class="lead">
        A model of people says what they would play. Search improves on it exactly as far as a dial
        allows. Turn the dial, and see why it plays what it plays.
      </p>
      <ul class="games">
        ${games.map((one) => html`
          <li key=${one.game}>
            <a href=${`#/${one.game}`}>
              <span class="emblem" aria-hidden="true">${GAMES[one.game].emblem}</span>
              <strong>${GAMES[one.game].title}</strong>
              <span>${GAMES[one.game].about}</span>
            </a>
          </li>`)}
      </ul>
      <${Recent} />
    </main>`;
}

function Recent() {
  const kept = stored("kedge-games", []);
  if (!kept.length) return null;
  return html`
    <h2>Go on with</h2>
    <ul class="recent">
      ${kept.map((one) => html`
        <li key=${one.id}><a href=${`#/s/${one.id}`}>${GAMES[one.game]?.title || one.game}</a>${" "}
          <span>after ${one.turns} ${one.turns === 1 ? "turn" : "turns"}, ${new Date(one.when).toLocaleString()}</span></li>`)}
    </ul>`;
}

function Top({ games, current }) {
  const themes = ["", "light", "dark"];
  const [theme, setTheme] = useState(localStorage.getItem("kedge-theme") || "");
  const turn = () => {
    const next = themes[(themes.indexOf(theme) + 1) % 3];
    if (next) localStorage.setItem("kedge-theme", next);
    else localStorage.removeItem("kedge-theme");
    document.documentElement.dataset.theme = next;
    setTheme(next);
  };
  return html`
    <header class="top">
      <a class="brand" href="#/"><img src="/static/icon.svg" alt="" width="22" height="22" />kedge</a>
      <nav aria-label="Games">
        ${(games || []).map((one) => html`
          <a key=${one.game} href=${`#/${one.game}`}
            aria-current=${one.game === current ? "page" : undefined}>${GAMES[one.game].title}</a>`)}
      </nav>
      <a class="quiet" href="/api/docs">API</a>
      <button class="quiet" type="button" onClick=${turn}
        aria-label=${`Theme: ${theme || "as the system has it"}; change it`}>
        ${{ "": "◐", light: "☀", dark: "☾" }[theme]}
      </button>
    </header>`;
}

const root = document.getElementById("page");
root.replaceChildren();
render(html`<${Page} />`, root);

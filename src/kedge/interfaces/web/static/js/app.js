// The page: chooses what to show by the part of the address behind the #.
import { html, render, useEffect, useState } from "../vendor/preact-htm.js";
import { api } from "./lib/api.js";
import { GameView } from "./game_view.js";
import { unpack } from "./lib/link.js";
import { GameFrom, NewGame } from "./choices/new_game.js";
import { GAMES, loadGames } from "./games.js";
import { stored } from "./lib/storage.js";

// #/ all games, #/GAME a new game, #/GAME/ID/12 a new game from a position of game ID, #/s/ID a game,
// #/s/ID/1 a game seen from a seat, #/link/PACKED a game from a link
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
  useEffect(() => {
    api.games().then(loadGames).then(([loaded, failed]) => {
      setGames(loaded);
      if (failed.length) setTrouble(`The board of ${failed.join(" and ")} does not load; see the browser's console.`);
    }).catch((error) => setTrouble(error.message));
  }, []);
  const [broken, setBroken] = useState(null); // a link, by its content
  useEffect(() => {
    if (where !== "link") return;
    unpack(what)
      .catch(() => { throw new Error("it is damaged or incomplete."); })
      .then((game) => (game.record ? api.read(game) : api.begin(game)))
      .then((session) => location.replace(`#/s/${session.id}`))
      .catch((error) => setBroken({ what, why: `Cannot open the link: ${error.message}` }));
  }, [where, what]);

  return html`
    <${Top} games=${games} current=${where} />
    ${trouble && html`<p class="notice" role="alert">${trouble}</p>`}
    ${where === "link" && broken?.what === what && html`<p class="notice" role="alert">${broken.why}</p>`}
    ${where === "s"
      ? html`<${GameView} key=${`${what}/${which}`} id=${what} loaded=${games !== null}
        seat=${which === undefined ? null : Number(which)} />`
      : games && html`<${Offer} games=${games} name=${where} from=${what} turn=${Number(which)} />`}
  `;
}

function Offer({ games, name, from, turn }) {
  const game = games.find(({ game: other }) => other === name);
  useEffect(() => { document.title = game ? `${game.title} – kedge` : "kedge"; }, [game]);
  if (game) {
    return html`<main>${from
      ? html`<${GameFrom} key=${from} game=${game} id=${from} turn=${turn} />`
      : html`<${NewGame} key=${game.game} game=${game} />`}</main>`;
  }
  return html`
    <main class="offer">
      <h1>Play someone who errs like a person</h1>
      <p class="lead">
        A model predicts what people would play. Search improves on it as far as a dial
        allows. Turn the dial, and see why it plays what it plays.
      </p>
      <ul class="games">
        ${games.map(({ game: name, title, emblem, about }) => html`
          <li key=${name}>
            <a href=${`#/${name}`}>
              <span class="emblem" aria-hidden="true">${emblem}</span>
              <strong>${title}</strong>
              <span>${about}</span>
            </a>
          </li>`)}
      </ul>
      <${Recent} />
    </main>`;
}

function Recent() {
  const recent = stored("kedge-games", []);
  if (!recent.length) return null;
  return html`
    <h2>Continue</h2>
    <ul class="recent">
      ${recent.map(({ id, game, turns, when }) => html`
        <li key=${id}><a href=${`#/s/${id}`}>${GAMES[game]?.title || game}</a>${" "}
          <span>after ${turns} ${turns === 1 ? "turn" : "turns"}, ${new Date(when).toLocaleString()}</span></li>`)}
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
        ${(games || []).map(({ game: name, title }) => html`
          <a key=${name} href=${`#/${name}`} aria-current=${name === current ? "page" : undefined}>${title}</a>`)}
      </nav>
      <a class="quiet" href="/api/docs">API</a>
      <button class="quiet" type="button" onClick=${turn}
        aria-label=${`Theme: ${theme || "system"}; change it`}>
        ${{ "": "◐", light: "☀", dark: "☾" }[theme]}
      </button>
    </header>`;
}

const root = document.getElementById("page");
root.replaceChildren();
render(html`<${Page} />`, root);

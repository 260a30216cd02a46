// A game as it is played: the board, who sits at it, the dial, and why it plays what it plays.
import { html, useCallback, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { Actions } from "./actions.js";
import { api, live } from "./api.js";
import { Dial } from "./dial.js";
import { GAMES, turnName } from "./games.js";
import { useHistory } from "./history.js";
import { Review, isOf, marksOf } from "./review.js";
import { Score, Steps } from "./score.js";
import { Why } from "./why.js";

export function GameView({ id, seat, games }) {
  const [session, setSession] = useState(null);
  const [thoughts, setThoughts] = useState({}); // by turn, as far as they were heard
  const [advice, setAdvice] = useState(null);
  const [wanted, setWanted] = useState(localStorage.getItem("kedge-advice") === "on");
  const [review, setReview] = useState(null);
  const [hovered, setHovered] = useState(null);
  const [trouble, setTrouble] = useState(null);
  const [state, setState] = useState("open");
  const [flipped, setFlipped] = useState(false);
  // Where people share a screen and must not see each other's cards: who looks at it now.
  const [looking, setLooking] = useState(null);
  const eyes = seat ?? looking;
  const [draft, setDraft] = useState(null);
  const [asked, setAsked] = useState("");
  const socket = useRef(null);
  const [then, shown, onShow] = useHistory(session, setTrouble);
  const alone = session && GAMES[session.game].peopleOnly?.(session.setup);
  const advised = Boolean(wanted && session && !alone);

  const hear = (thought) => setThoughts((known) => ({ ...known, [thought.turn]: thought }));
  useEffect(() => {
    // Who wants advice wants it of earlier positions, too.
    if (!advised || !session?.document || shown === session.turns.length || thoughts[shown]) return;
    api.policy(questionAt(session, shown)).then(hear, (error) => setTrouble(error.message));
  }, [advised, shown]);
  const show = useCallback((found) => {
    setSession((known) => (known && known.revision > found.revision ? known : found));
    // What was thought of turns that are undone is of another game.
    setThoughts((known) => Object.fromEntries(Object.entries(known).filter(([turn]) => turn <= found.turns.length)));
    if (found.thought) hear(found.thought);
    setAdvice((known) => (known && known.turn === found.turns.length ? known : null));
  }, []);
  useEffect(() => {
    socket.current = live(id, {
      eyes,
      onState: setState,
      onMessage: (message) => {
        if (message.type === "session") show(message.session);
        else if (message.type === "thought") hear(message.thought);
        else if (message.type === "advice") setAdvice(message.thought);
        else if (message.type === "review") setReview(message.review);
        else setTrouble(message.detail);
      },
    });
    return () => socket.current.close();
  }, [id, eyes]);
  useEffect(() => {
    socket.current.advise(advised);
    localStorage.setItem("kedge-advice", wanted ? "on" : "off");
    if (!advised) setAdvice(null);
  }, [advised, wanted, id, eyes]);
  useEffect(() => setLooking(null), [session?.turns.length]);
  useEffect(() => { if (session) remember(session); }, [session?.turns.length, session?.outcome]);
  useEffect(() => { if (session) document.title = `${GAMES[session.game].title} – kedge`; }, [session?.game]);

  const act = (asked) => asked.then((found) => { setTrouble(null); show(found); },
    (error) => setTrouble(error.message));
  if (state === "gone") {
    return html`<main><p class="notice" role="alert">There is no such game here any more.
      <a href="#/"> Begin another</a></p></main>`;
  }
  if (!session || !games) return html`<main class="table" aria-busy="true"></main>`;

  const look = GAMES[session.game];
  const game = games.find((one) => one.game === session.game);
  const { Board } = look;
  const isNow = shown === session.turns.length;
  const people = session.seats.map((_, number) => number).filter((number) => session.seats[number].human);
  const mine = then.deciding.filter((number) => people.includes(number) && number === (eyes ?? number));
  const covered = look.hides && !session.outcome && people.length > 1 && (eyes ?? NaN) !== session.eyes;
  const play = (move, number = mine[0]) => act(api.move(id, number, move, session.turns.length, eyes));
  const sit = (number, told) => act(api.sit(id, number, told, eyes));
  const agents = session.seats.map((seat, number) => ({ ...seat, number })).filter((seat) => !seat.human);
  const about = askedFor(session, asked) || (isNow ? !session.outcome && advice || thoughts[shown] || thoughts[shown - 1] : thoughts[shown]);
  const whose = session.seats[about?.seat]?.name ?? "";
  const judged = review && isOf(review, session) ? review : null;
  const board = {
    session: then, look, thought: about, hovered, onHover: setHovered, onPlay: play, mine, flipped, covered,
    seat: session.eyes ?? seat ?? people[0] ?? 0, onLook: () => setLooking(mine[0]), draft, onDraft: setDraft,
  };

  return html`
    <main class=${`table ${session.game}`}>
      <h1 class="sr">${look.title}</h1>
      <div class="middle">
        <${Board} ...${board} />
        <${Steps} count=${session.turns.length} shown=${shown} onShow=${onShow}>
          <p class="status" role="status" aria-live="polite">
            ${isNow ? status(session, mine, state) : earlier(shown, session)}</p>
          ${!isNow && html`<button type="button" onClick=${() => onShow(session.turns.length)}>Back to the game</button>`}
        <//>
        <p class="trouble" role="alert">${trouble || session.trouble}</p>
        <${Actions} session=${session} act=${act} files=${game.files} onTrouble=${setTrouble}
          reviewed=${judged?.report && judged.of === session.turns.length}
          onFlip=${look.flips && (() => setFlipped(!flipped))} />
      </div>
      <div class="beside">
        <aside aria-label="The dial, and why">
          ${look.Panel && html`<${look.Panel} ...${board} />`}
          ${dials(agents).map(([label, seat, numbers]) => html`
            <${Dial} key=${label} label=${label} seat=${seat} stops=${game.stops}
              onChange=${(told) => numbers.forEach((number) => sit(number, told))} />`)}
          ${!alone && people.length > 0 && html`
            <label class="card switch"><input type="checkbox" role="switch" checked=${advised}
              onChange=${(event) => setWanted(event.target.checked)} />
              <span>Show me what ${look.anchor || "people"} and search would play for me</span></label>`}
          ${(about || advised || agents.length > 0) && html`
            <${Why} thought=${about} hovered=${hovered} onHover=${setHovered} anchor=${look.anchor}
              title=${about && about === advice ? `Your move${mine.length > 1 ? `: ${whose}` : ""}` : `Why ${whose}`}
              whose=${session.thoughts.length > 1 && html`
                <${Whose} session=${session} advice=${advice} about=${about} onAsk=${setAsked} />`}
              extra=${look.Extra && html`<${look.Extra} ...${board} />`} />`}
        </aside>
        <aside aria-label="The moves, and their review">
          <${Score} session=${session} shown=${shown} onShow=${onShow}
            marks=${judged?.report && marksOf(judged.report, session)} />
          ${game.reviews && html`
            <${Review} review=${judged} session=${session} shown=${shown} onShow=${onShow}
              onBegin=${() => api.review(id).then(setReview, (error) => setTrouble(error.message))}
              onStop=${() => api.stopReview(id).then(setReview, (error) => setTrouble(error.message))} />`}
        </aside>
      </div>
    </main>`;
}

// What an agent of this game would play where so many turns were taken.
function questionAt({ game, setup, document: turns, seats }, shown) {
  const { dial, settings } = seats.find((seat) => !seat.human) || seats[0];
  return { game, setup, turns: turns.slice(0, shown), dial, settings };
}

// Where several decide at once each has its reasons.
function Whose({ session, advice, about, onAsk }) {
  return html`
    <select aria-label="Whose decision" value=${about === advice ? "" : nameOf(about, session)}
      onChange=${(event) => onAsk(event.target.value)}>
      ${advice && html`<option value="">your move</option>`}
      ${session.thoughts.map((one) => nameOf(one, session)).map((name) => html`
        <option key=${name} value=${name}>${name}</option>`)}
    </select>`;
}

// The decision that was asked for or, when the game has gone on, the next of the same seat.
function askedFor(session, asked) {
  const [name] = asked.split(",");
  return session.thoughts.find((one) => nameOf(one, session) === asked)
    || session.thoughts.find((one) => session.seats[one.seat].name === name);
}

const nameOf = ({ seat, turn }, session) => `${session.seats[seat].name}, ${session.turns[turn]?.name}`;

// Agents that sit alike share a dial.
function dials(agents) {
  const alike = new Map();
  for (const seat of agents) {
    const key = JSON.stringify([seat.dial, seat.settings]);
    alike.set(key, [...(alike.get(key) || []), seat]);
  }
  return [...alike.values()].map((seats) => [`How ${who(seats)}`, seats[0], seats.map((seat) => seat.number)]);
}

function who(seats) {
  if (seats.length > 2) return "the others play";
  return `${seats.map((seat) => seat.name).join(" and ")} ${seats.length > 1 ? "play" : "plays"}`;
}

function status(session, mine, state) {
  if (state === "lost") return "kedge does not answer; trying again…";
  if (session.outcome) return session.outcome;
  const names = session.deciding.map((seat) => session.seats[seat].name);
  const said = GAMES[session.game].status?.(session, mine);
  if (said) return said;
  if (mine.length) {
    // Who does not see the board is told what was played on it.
    const last = session.turns.length - 1;
    return html`<span class="sr">${last >= 0 && `${turnName(last, session)}. `}</span>
      ${mine.map((seat) => session.seats[seat].name).join(", ")} to move`;
  }
  return session.thinking.length ? `${names.join(", ")} thinking…` : "";
}

function earlier(shown, session) {
  if (shown === 0) return "Before the first move";
  return `After ${turnName(shown - 1, session)}`;
}

// The last games, for the first page to offer.
function remember(session) {
  const kept = JSON.parse(localStorage.getItem("kedge-games") || "[]");
  const mine = { id: session.id, game: session.game, turns: session.turns.length, when: Date.now() };
  const others = kept.filter((one) => one.id !== session.id).slice(0, 7);
  localStorage.setItem("kedge-games", JSON.stringify(session.outcome ? others : [mine, ...others]));
}

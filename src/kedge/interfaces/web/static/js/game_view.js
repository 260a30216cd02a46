// A game in play: the board, the players, the dial, and the reasons behind the moves.
import { html, useCallback, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { Actions } from "./panels/actions.js";
import { AgentChoice } from "./choices/agent_choice.js";
import { api, live } from "./lib/api.js";
import { Dial } from "./choices/dial.js";
import { GAMES, turnName } from "./games.js";
import { useHeading } from "./lib/heading.js";
import { useBefore, useHistory } from "./panels/history.js";
import { Review, isOf, marksOf } from "./panels/review.js";
import { Score, Steps } from "./panels/score.js";
import { Whose, decisions, selectedDecision, upTo, useQuestion, withThought } from "./panels/thoughts.js";
import { stored } from "./lib/storage.js";
import { Why } from "./why.js";

export function GameView({ id, seat, loaded }) {
  const [session, setSession] = useState(null);
  const [archive, setArchive] = useState({}); // the analyses for each position, including advice: by turn, then by seat
  const [wantsAdvice, setWantsAdvice] = useState(localStorage.getItem("kedge-advice") === "on");
  const [review, setReview] = useState(null);
  const [hovered, setHovered] = useState(null);
  const [trouble, setTrouble] = useState(null);
  const [connection, setConnection] = useState("open");
  const [flipped, setFlipped] = useState(false);
  // Who looks at a shared screen, in games where people must not see each other's cards.
  const [looking, setLooking] = useState(null);
  const eyes = seat ?? looking;
  // A move in progress survives a reload.
  const draftKey = `kedge-draft-${id}`;
  const [draft, setDraft] = useState(() => stored(draftKey, {}, sessionStorage));
  useEffect(() => sessionStorage.setItem(draftKey, JSON.stringify(draft)), [draft]);
  const [selected, setSelected] = useState(null);
  const socket = useRef(null);
  const game = session && loaded ? GAMES[session.game] : null;
  const heading = useHeading(Boolean(game));
  const [shownSession, onShow] = useHistory(session, setTrouble);
  const alone = game && peopleOnly(game, session.setup);
  const advised = Boolean(wantsAdvice && session && !alone);

  const hear = (thought) => setArchive((known) => withThought(known, thought));
  const people = (session?.seats ?? []).map((_, number) => number).filter((number) => session.seats[number].human);
  const mine = (shownSession?.deciding ?? []).filter((number) => people.includes(number) && number === (eyes ?? number));
  // Advice is first for the seat whose orders are being written.
  const advisable = advised ? mine.toSorted((first, second) => (second === draft?.seat) - (first === draft?.seat)) : [];
  const offered = session ? decisions(session, shownSession, advisable, archive) : [];
  const decision = selectedDecision(offered, selected);
  const thought = decision?.thought;
  // A move that is pointed at in an analysis is shown on the position of the analysis.
  const before = useBefore(session, shownSession?.isEarlier ? null : thought, Boolean(hovered));
  const [asking, ask] = useQuestion(session, decision, {
    possible: shownSession?.isEarlier && !session.secret && !alone, isWanted: advised,
    onThought: hear, onTrouble: setTrouble,
  });
  const show = useCallback((news) => {
    setSession(news);
    setArchive((known) => news.thoughts.reduce(withThought, upTo(known, news.turns.length)));
  }, []);
  useEffect(() => {
    setArchive({}); // the next viewer must not see the last one's analyses
    socket.current = live(id, {
      eyes,
      onState: (now, why = null) => {
        setConnection(now);
        if (now !== "lost") setTrouble(why); // the server answers again
      },
      onMessage: (message) => {
        if (message.type === "session") show(message.session);
        else if (message.type === "thought" || message.type === "advice") hear(message.thought);
        else if (message.type === "review") setReview(message.review);
        else setTrouble(message.detail);
      },
    });
    return () => socket.current.close();
  }, [id, eyes]);
  useEffect(() => {
    socket.current.advise(advised);
    localStorage.setItem("kedge-advice", wantsAdvice ? "on" : "off");
  }, [advised, wantsAdvice, id, eyes]);
  useEffect(() => setLooking(null), [session?.turns.length]);
  useEffect(() => { if (session) remember(session); }, [session?.turns.length, session?.outcome]);
  useEffect(() => { if (game) document.title = `${game.title} – kedge`; }, [game]);

  // Returns whether the server did it.
  const act = (request) => request.then(
    () => { setTrouble(null); return true; }, (error) => { setTrouble(error.message); return false; });
  if (connection === "gone" || connection === "refused") {
    return html`<main><p class="notice" role="alert">${trouble || "This game no longer exists."}
      <a href="#/"> Begin another</a></p></main>`;
  }
  if (!session || !loaded) return html`<main class="table" aria-busy="true"></main>`;
  if (!game) return html`<main class="table"></main>`; // the page says why

  const { Board, Extra, Panel } = game;
  const shown = shownSession.turns.length;
  const isNow = shown === session.turns.length;
  const covered = game.hides && !session.outcome && people.length > 1 && (eyes ?? NaN) !== session.eyes;
  const play = (move, number = mine[0]) => act(api.move(id, number, move, session.turns.length));
  const sit = (number, player) => act(api.sit(id, number, player));
  const agents = session.seats.map((seat, number) => ({ ...seat, number })).filter((seat) => !seat.human);
  const judged = review && isOf(review, session) ? review : null;
  const boardProps = {
    session: shownSession, thought, hovered, onHover: setHovered, onPlay: play, mine, flipped,
    covered, seat: session.eyes ?? seat ?? people[0] ?? 0, onLook: () => setLooking(mine[0]), draft, onDraft: setDraft,
  };

  const severalDecide = session.thoughts.length > 1 || isAmongSeveral(decision, offered);
  const why = (thought || advised || ask || agents.length > 0) && html`
    <${Why} thought=${thought} hovered=${hovered} onHover=${setHovered} anchor=${game.anchor}
      title=${titleOf(session, decision, mine)} asking=${asking} onAsk=${ask}
      isLater=${session.secret}
      whose=${severalDecide && html`<${Whose} offered=${offered} decision=${decision} onSelect=${setSelected} />`}
      extra=${Extra && html`<${Extra} ...${boardProps} />`} />`;

  return html`
    <main class=${`table game-${session.game}`}>
      <h1 class="sr" ref=${heading} tabindex="-1">${game.title}</h1>
      <div class="middle">
        <${Board} ...${boardProps} ...${before ? { session: before, mine: [] } : {}} />
        <${Steps} count=${session.turns.length} shown=${shown} onShow=${onShow}>
          <p class="status" role="status" aria-live="polite">
            ${isNow ? status(session, mine, connection) : earlier(shown, session)}</p>
          ${!isNow && html`<button type="button" onClick=${() => onShow(session.turns.length)}>Back to the game</button>`}
        <//>
        <p class="trouble" role="alert">${trouble || session.trouble}</p>
        <${Actions} session=${session} shown=${shown} canPlayOn=${shownSession.due.length > 0} act=${act}
          people=${people} onTrouble=${setTrouble}
          reviewed=${judged?.report && judged.of === session.turns.length}
          onFlip=${game.flips && (() => setFlipped(!flipped))} />
      </div>
      <div class="beside">
        <aside aria-label="The dial, and why">
          ${Panel && html`<${Panel} ...${boardProps} />`}
          ${alike(agents).map(([label, seat, numbers]) => (seat.dial === null ? html`
            <div class="card agent" key=${label}>
              <${AgentChoice} label=${label} agents=${game.agents} agent=${seat.agent}
                onChange=${(agent) => numbers.forEach((number) => sit(number, { agent }))} />
            </div>` : html`
            <${Dial} key=${label} label=${label} seat=${seat} stops=${game.stops} anchor=${game.anchor} people=${game.people}
              onChange=${(player) => numbers.forEach((number) => sit(number, player))} />`))}
          ${alone && html`<p class="card">${alone}</p>`}
          ${!alone && people.length > 0 && html`
            <label class="card switch"><input type="checkbox" role="switch" checked=${advised}
              onChange=${(event) => setWantsAdvice(event.target.checked)} />
              <span>Show me what ${game.anchor || "people"} and search would play${session.recorded ? "" : " for me"}</span></label>`}
          ${!Panel && why}
        </aside>
        <aside aria-label="The moves, and their review">
          ${Panel && why}
          <${Score} session=${session} shown=${shown} onShow=${onShow}
            marks=${judged?.report && marksOf(judged.report, session)} />
          ${session.reviews && html`
            <${Review} review=${judged} session=${session} shown=${shown} onShow=${onShow}
              onBegin=${() => api.review(id).then(setReview, (error) => setTrouble(error.message))}
              onStop=${() => api.stopReview(id).then(setReview, (error) => setTrouble(error.message))} />`}
        </aside>
      </div>
    </main>`;
}

function titleOf(session, decision, mine) {
  if (!decision) return "Why";
  const { name, human } = session.seats[decision.seat];
  if (!human) return `Why ${name}`;
  return mine.includes(decision.seat) ? `Your move${mine.length > 1 ? `: ${name}` : ""}` : `${name} to move`;
}

const isAmongSeveral = (decision, offered) => offered.filter(({ turn }) => turn === decision.turn).length > 1;

// Why no agent can play this game, if none can.
function peopleOnly({ stops, agents, peopleOnly: why }, setup) {
  return stops.length || agents.length ? why?.(setup) : "No agent plays this game.";
}

// Agents with the same settings share a dial.
function alike(agents) {
  const groups = new Map();
  for (const seat of agents) {
    const key = JSON.stringify([seat.dial, seat.settings, seat.agent]);
    groups.set(key, [...(groups.get(key) || []), seat]);
  }
  return [...groups.values()].map((seats) => [`How ${who(seats)}`, seats[0], seats.map((seat) => seat.number)]);
}

function who(seats) {
  if (seats.length > 2) return "the others play";
  return `${seats.map((seat) => seat.name).join(" and ")} ${seats.length > 1 ? "play" : "plays"}`;
}

function status(session, mine, connection) {
  if (connection === "lost") return "kedge does not answer; trying again…";
  if (session.outcome) return session.outcome;
  const names = session.deciding.map((seat) => session.seats[seat].name);
  const words = GAMES[session.game].status?.(session, mine);
  if (words) return words;
  if (mine.length) {
    // Screen readers say the last move.
    const last = session.turns.length - 1;
    return html`<span class="sr">${last >= 0 && `${turnName(last, session)}. `}</span>
      ${mine.map((seat) => session.seats[seat].name).join(", ")} to move`;
  }
  return names.length ? `${names.join(", ")} ${session.thinking.length ? "thinking…" : "to move"}` : "";
}

function earlier(shown, session) {
  if (shown === 0) return "Before the first move";
  return `After ${turnName(shown - 1, session)}`;
}

// Remember the last games for the start page.
function remember(session) {
  const games = stored("kedge-games", []);
  const mine = { id: session.id, game: session.game, turns: session.turns.length, when: Date.now() };
  const others = games.filter(({ id }) => id !== session.id).slice(0, 7);
  localStorage.setItem("kedge-games", JSON.stringify(session.outcome ? others : [mine, ...others]));
}

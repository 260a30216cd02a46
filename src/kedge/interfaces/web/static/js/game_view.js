// A game as it is played: the board, who sits at it, the dial, and why it plays what it plays.
import { html, useCallback, useEffect, useRef, useState } from "../vendor/preact-htm.js";
import { api, live } from "./api.js";
import { Dial } from "./dial.js";
import { GAMES } from "./games.js";
import { pack } from "./link.js";
import { Why } from "./why.js";

export function GameView({ id, seat, games }) {
  const [session, setSession] = useState(null);
  const [thought, setThought] = useState(null);
  const [advice, setAdvice] = useState(null);
  const [wanted, setWanted] = useState(localStorage.getItem("kedge-advice") === "on");
  const [hovered, setHovered] = useState(null);
  const [trouble, setTrouble] = useState(null);
  const [state, setState] = useState("open");
  const [flipped, setFlipped] = useState(false);
  // Where people share a screen and must not see each other's cards: who looks at it now.
  const [looking, setLooking] = useState(null);
  const eyes = seat ?? looking;
  const socket = useRef(null);
  const alone = session && GAMES[session.game].peopleOnly?.(session.setup);
  const advised = Boolean(wanted && session && !alone);

  const show = useCallback((found) => {
    setSession((known) => (known && known.revision > found.revision ? known : found));
    if (found.thought) setThought(found.thought);
    setAdvice((known) => (known && known.turn === found.turns.length ? known : null));
  }, []);
  useEffect(() => {
    socket.current = live(id, {
      eyes,
      onState: setState,
      onMessage: (message) => {
        if (message.type === "session") show(message.session);
        else if (message.type === "thought") setThought(message.thought);
        else if (message.type === "advice") setAdvice(message.thought);
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
  const people = session.seats.map((_, number) => number).filter((number) => session.seats[number].human);
  const mine = session.deciding.filter((number) => people.includes(number) && number === (eyes ?? number));
  const covered = look.hides && !session.outcome && people.length > 1 && (eyes ?? NaN) !== session.eyes;
  const play = (move, number = mine[0]) => act(api.move(id, number, move, session.turns.length, eyes));
  const sit = (number, told) => act(api.sit(id, number, told, eyes));
  const agents = session.seats.map((seat, number) => ({ ...seat, number })).filter((seat) => !seat.human);
  const about = advice || thought;
  const board = {
    session, look, thought: about, hovered, onHover: setHovered, onPlay: play, mine, flipped, covered,
    seat: session.eyes ?? seat ?? people[0] ?? 0, onLook: () => setLooking(mine[0]),
  };

  return html`
    <main class=${`table ${session.game}`}>
      <h1 class="sr">${look.title}</h1>
      <div class="middle">
        <${Board} ...${board} />
        <p class="status" role="status" aria-live="polite">${status(session, mine, state)}</p>
        <p class="trouble" role="alert">${trouble || session.trouble}</p>
        <${Actions} session=${session} act=${act} files=${game.files} onTrouble=${setTrouble}
          onFlip=${look.flips && (() => setFlipped(!flipped))} />
      </div>
      <aside>
        ${dials(session, agents).map(([label, seat, numbers]) => html`
          <${Dial} key=${label} label=${label} seat=${seat} stops=${game.stops}
            onChange=${(told) => numbers.forEach((number) => sit(number, told))} />`)}
        <${Why} thought=${about} hovered=${hovered} onHover=${setHovered}
          anchor=${look.anchor} title=${advice ? "Your move" : `Why ${thought ? session.seats[thought.seat]?.name : ""}`}
          extra=${look.Extra && html`<${look.Extra} ...${board} />`} />
        ${!alone && people.length > 0 && html`
          <label class="card switch"><input type="checkbox" role="switch" checked=${advised}
            onChange=${(event) => setWanted(event.target.checked)} />
            <span>Show me what ${look.anchor || "people"} and search would play for me</span></label>`}
        <${Turns} session=${session} />
      </aside>
    </main>`;
}

// Agents that sit alike share a dial.
function dials(session, agents) {
  const alike = new Map();
  for (const seat of agents) {
    const key = JSON.stringify([seat.dial, seat.settings]);
    alike.set(key, [...(alike.get(key) || []), seat]);
  }
  return [...alike.values()].map((seats) => [
    `How ${seats.length > 2 ? "the others play" : `${seats.map((seat) => seat.name).join(" and ")} plays`}`,
    seats[0],
    seats.map((seat) => seat.number),
  ]);
}

function status(session, mine, state) {
  if (state === "lost") return "kedge does not answer; trying again…";
  if (session.outcome) return session.outcome;
  const names = session.deciding.map((seat) => session.seats[seat].name);
  if (mine.length) return `${mine.map((seat) => session.seats[seat].name).join(", ")} to move`;
  return session.thinking.length ? `${names.join(", ")} thinking…` : "";
}

function Actions({ session, act, files, onTrouble, onFlip }) {
  const seats = session.seats.map((_, seat) => seat).filter((seat) => session.seats[seat].human);
  const loser = session.deciding.find((seat) => seats.includes(seat)) ?? seats[0];
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    const { game, setup, document: turns, seats: sitting } = session;
    const told = sitting.map(({ human, dial, settings }) => ({ human, dial, settings }));
    const link = `${location.origin}/#/link/${await pack({ game, setup, turns, seats: told })}`;
    try {
      await navigator.clipboard.writeText(link);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      prompt("The link:", link);
    }
  };
  const save = async () => {
    try {
      const text = await api.record(session.id);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text]));
      link.download = `kedge-${session.game}${files[0]}`;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      onTrouble(error.message);
    }
  };
  return html`
    <p class="actions">
      <a class="button" href=${`#/${session.game}`}>New game</a>
      ${seats.length > 0 && html`
        ${GAMES[session.game].undoes !== false && html`
          <button type="button" disabled=${!session.turns.length} onClick=${() => act(api.undo(session.id))}>Undo</button>`}
        ${!session.outcome && GAMES[session.game].resigns && html`
          <button type="button" onClick=${() => confirm("Resign?") && act(api.resign(session.id, loser))}>Resign</button>`}`}
      ${onFlip && html`<button type="button" onClick=${onFlip}>Flip</button>`}
      ${files.length > 0 && html`<button type="button" onClick=${save}>Save ${files[0]}</button>`}
      ${session.document && html`<button type="button" onClick=${copy}>${copied ? "Copied" : "Copy link"}</button>`}
    </p>`;
}

function Turns({ session }) {
  const list = useRef(null);
  useEffect(() => { if (list.current) list.current.scrollTop = list.current.scrollHeight; },
    [session.turns.length]);
  if (!session.turns.length) return null;
  const { number } = GAMES[session.game];
  return html`
    <section class="turns card" aria-label="What was played">
      <ol ref=${list} tabindex="0">
        ${session.turns.map((turn, ply) => html`
          <li key=${ply}>${number(ply, session) && html`<b>${number(ply, session)}</b>`} ${turn.name}</li>`)}
      </ol>
    </section>`;
}

// The last games, for the first page to offer.
function remember(session) {
  const kept = JSON.parse(localStorage.getItem("kedge-games") || "[]");
  const mine = { id: session.id, game: session.game, turns: session.turns.length, when: Date.now() };
  const others = kept.filter((one) => one.id !== session.id).slice(0, 7);
  localStorage.setItem("kedge-games", JSON.stringify(session.outcome ? others : [mine, ...others]));
}

// The buttons below a board.
import { html, useState } from "../../vendor/preact-htm.js";
import { seating } from "../choices/agent_choice.js";
import { api } from "../lib/api.js";
import { Confirm, Dialog } from "../lib/dialog.js";
import { GAMES, movesOf } from "../games.js";
import { pack } from "../lib/link.js";

export function Actions({ session, shown, canPlayOn, act, people, reviewed, onTrouble, onFlip }) {
  const loser = session.deciding.find((seat) => people.includes(seat)) ?? people[0];
  const game = GAMES[session.game];
  const switches = people.length === 1 && session.seats.length === 2 && !session.outcome && !game.hides;
  const undoable = session.turns.length > 0 || Boolean(session.outcome); // a player may resign before any move
  const [resigning, setResigning] = useState(false);
  const [copied, setCopied] = useState(false);
  const [link, setLink] = useState(null);
  const copy = async () => {
    const made = await linkOf(session);
    try {
      await navigator.clipboard.writeText(made);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      setLink(made); // the browser does not allow the clipboard
    }
  };
  const save = (annotated) =>
    api.record(session.id, annotated).then(
      (text) => download(text, `kedge-${session.game}${annotated ? "-review" : ""}${game.files[0]}`),
      (error) => onTrouble(error.message));
  return html`
    <p class="actions">
      <a class="button" href=${`#/${session.game}`}>New game</a>
      ${session.outcome && html`
        <button type="button" disabled=${!canPlayOn}
          onClick=${() => { location.hash = `#/${session.game}/${session.id}/${shown}`; }}>Play from here</button>`}
      ${people.length > 0 && !session.recorded && html`
        ${game.undoes !== false && html`
          <button type="button" aria-disabled=${!undoable}
            onClick=${() => undoable && act(api.undo(session.id))}>Undo</button>`}
        ${switches && html`
          <button type="button" onClick=${() => act(switched(session, people[0]))}>Switch sides</button>`}
        ${(game.resigns || game.heir) && !session.outcome && html`
          <button type="button" onClick=${() => setResigning(true)}>Resign</button>`}`}
      ${onFlip && html`<button type="button" onClick=${onFlip}>Flip</button>`}
      ${game.files.length > 0 && html`<button type="button" disabled=${session.secret} onClick=${() => save(false)}>Save ${game.files[0]}</button>`}
      ${reviewed && html`<button type="button" onClick=${() => save(true)}>Save review</button>`}
      ${!session.secret && html`<button type="button" onClick=${copy}>${copied ? "Copied" : "Copy link"}</button>`}
    </p>
    ${resigning && html`
      <${Confirm} title=${game.heir ? `Resign ${session.seats[loser].name}? An agent takes over.` : "Resign this game?"}
        yes="Resign" onClose=${() => setResigning(false)}
        onYes=${() => act(game.heir ? handedOver(session, loser) : api.resign(session.id, loser))} />`}
    ${link && html`
      <${Dialog} title="Link to this position" onClose=${() => setLink(null)}>
        <input type="text" readonly value=${link} aria-label="The link" onFocus=${(event) => event.target.select()} />
        <p class="actions"><button type="button" onClick=${() => setLink(null)}>Close</button></p>
      <//>`}`;
}

// Switch the person's side. For a moment the person has both, so that no agent plays against itself.
async function switched({ id, seats }, mine) {
  const agent = seating(seats[1 - mine]);
  await api.sit(id, 1 - mine, { ...agent, human: true });
  return api.sit(id, mine, { ...agent, human: false });
}

function handedOver({ id, seats }, seat) {
  return api.sit(id, seat, { ...seating(seats[seat]), human: false });
}

async function linkOf(session) {
  const { id, game, recorded, setup, seats } = session;
  if (recorded) return `${location.origin}/#/link/${await pack({ game, record: await api.record(id) })}`;
  return `${location.origin}/#/link/${await pack({ game, setup, turns: movesOf(session), seats: seats.map(seating) })}`;
}

function download(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// A modal dialog.
import { html, useEffect, useRef } from "../../vendor/preact-htm.js";

export function Dialog({ title, onClose, children }) {
  const dialog = useRef(null);
  useEffect(() => {
    dialog.current.showModal();
    return () => dialog.current?.close();
  }, []);
  return html`
    <dialog ref=${dialog} class="card" aria-labelledby="dialog-title" onClose=${onClose}>
      <h2 id="dialog-title">${title}</h2>
      ${children}
    </dialog>`;
}

export function Confirm({ title, yes, onYes, onClose }) {
  return html`
    <${Dialog} title=${title} onClose=${onClose}>
      <p class="actions">
        <button type="button" class="main" onClick=${() => { onClose(); onYes(); }}>${yes}</button>
        <button type="button" autofocus onClick=${onClose}>Cancel</button>
      </p>
    <//>`;
}

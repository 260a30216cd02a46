// The server: its HTTP API, and the live messages of a game.

const BASE = "/api/v1";

export class Refused extends Error {}

async function ask(method, path, body, headers = {}) {
  let answer;
  try {
    answer = await fetch(BASE + path, {
      method,
      headers: body === undefined ? headers : { ...headers, "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Refused("kedge does not answer; is it still running?");
  }
  if (answer.status === 204) return null;
  const type = answer.headers.get("Content-Type") || "";
  const content = type.startsWith("application/json") ? await answer.json() : await answer.text();
  if (!answer.ok) throw new Refused(content?.detail || `kedge answered ${answer.status}`);
  return content;
}

// After a change, only the live messages send the game.
const MINIMAL = { Prefer: "return=minimal" };

// The seat to view a game from; by default the mover's.
const seenBy = (eyes) => (eyes === null || eyes === undefined ? "" : `?eyes=${eyes}`);

export const api = {
  games: () => ask("GET", "/games"),
  begin: (game) => ask("POST", "/sessions", game),
  read: (file) => ask("POST", "/sessions/read", file),
  session: (id) => ask("GET", `/sessions/${id}`),
  move: (id, seat, move, turn) => ask("POST", `/sessions/${id}/move`, { seat, move, turn }, MINIMAL),
  undo: (id) => ask("POST", `/sessions/${id}/undo`, undefined, MINIMAL),
  resign: (id, seat) => ask("POST", `/sessions/${id}/resign`, { seat }, MINIMAL),
  sit: (id, seat, player) => ask("PUT", `/sessions/${id}/seats/${seat}`, player, MINIMAL),
  policy: (question) => ask("POST", "/policy", question),
  at: (id, turn, eyes) => ask("GET", `/sessions/${id}/at/${turn}${seenBy(eyes)}`),
  review: (id) => ask("POST", `/sessions/${id}/review`),
  stopReview: (id) => ask("DELETE", `/sessions/${id}/review`),
  record: (id, annotated) => ask("GET", `/sessions/${id}/record${annotated ? "?annotated=true" : ""}`),
};

// The messages of a game. Reconnects until it is closed.
export function live(id, { eyes, onMessage, onState }) {
  let socket, closed = false, wait = 250, isAdvised = false;

  function connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}${BASE}/sessions/${id}/live${seenBy(eyes)}`);
    socket.onopen = () => {
      wait = 250;
      onState("open");
      if (isAdvised) socket.send(JSON.stringify({ advise: true }));
    };
    socket.onmessage = (event) => { if (!closed) onMessage(JSON.parse(event.data)); };
    socket.onclose = (event) => {
      if (closed) return;
      if (event.code === 4404) return onState("gone");
      if (event.code === 1008) return onState("refused", event.reason); // trying again would not help
      onState("lost");
      setTimeout(connect, (wait = Math.min(4000, 2 * wait)));
    };
  }
  connect();
  return {
    advise(on) {
      isAdvised = on;
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ advise: on }));
    },
    close() {
      closed = true;
      socket.close();
    },
  };
}

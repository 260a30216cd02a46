// The games that the server offers. Each has what `GET /games` says of it, and the exports of its board's module.
//
// A module exports
//   Board     what is played on; its props are { session, thought, hovered, onHover, onPlay, mine, flipped,
//             seat, covered, onLook, draft, onDraft }
//   number    (ply, session) => what stands before a turn in the list of turns
//   setup     options of a new game, unless Setup changes them
// and, if it has them,
//   Setup          form fields of a new game: { setup, onChange }
//   once           names of options that the next game does not remember, such as a position
//   label          like number, for a turn outside the list
//   sheet          whether the list has two columns
//   Extra          more below the bars of an analysis
//   Panel          more beside the board; it shares { draft, onDraft }, a move in progress, with Board
//   status         (session, mine) => whose turn it is, in words
//   seatNames      (setup) => names of the seats, if they depend on the setup
//   flips, resigns, undoes (default true)
//   heir           whether an agent takes over from a player who resigns
//   hides          whether seats see different things
//   severalPeople  whether any number of people may play
//   anchor         what the anchor stands for (default "people")
//   peopleOnly     (setup) => why no agent can play, or null
//   caveat         (setup) => a warning about agents, or null
// At an earlier position, `session` is the game as it stood there, `session.isEarlier` is true, and `mine` is empty.
export const GAMES = {};

// Loads the boards of all games. Returns the games that can be drawn, and the titles of the others.
export async function loadGames(offered) {
  const results = await Promise.allSettled(offered.map(load));
  const failed = offered.filter((_, i) => results[i].status === "rejected");
  return [results.flatMap(({ value }) => value ?? []), failed.map(({ title }) => title)];
}

async function load(game) {
  const [board] = await Promise.all([import(game.script), game.style && linked(game.style)]);
  return (GAMES[game.game] = { ...game, ...board });
}

function linked(href) {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    Object.assign(link, { rel: "stylesheet", href, onload: resolve, onerror: reject });
    document.head.append(link);
  });
}

// The turns as the server takes them; null while they would reveal a secret.
export const movesOf = ({ secret, turns }) => (secret ? null : turns.map(({ move }) => move));

// A turn with its number, such as "12… Nf6".
export function turnName(ply, session) {
  const { label, number } = GAMES[session.game];
  return `${(label || number)(ply, session)} ${session.turns[ply].name}`.trim();
}

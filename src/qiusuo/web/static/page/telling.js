/** What the server has told of the turns, told again after the reader has chosen another language. */
import { call, sessionPath } from "./api.js";
import { change, getState } from "./store.js";
import { PENDING, UNSENT, attach } from "./turns.js";

/** @import { Session, Turn } from "./types.js" */

export async function tellAgain() {
  const { current, turns } = getState();
  if (!current) return;
  const told = await fetchTurns(current.id, turns).catch(() => null); // the next look at the conversation tells it
  const { current: shown, turns: now, live } = getState();
  if (!told || shown?.id !== current.id) return;
  change({ turns: now.map((turn) => retold(turn, told.get(turn.id))) });
  // Its events so far are sent once more.
  if (live && live !== PENDING) attach(current.id, live);
}

/** @param {Turn} turn @param {Turn | undefined} anew @returns {Turn} */
function retold(turn, anew) {
  return anew ? { ...turn, notices: anew.notices, rounds: anew.rounds, readings: anew.readings, sources: anew.sources } : turn;
}

/** @param {string} session @param {Turn[]} wanted @returns {Promise<Map<string, Turn>>} the last turns, back to the wanted ones */
async function fetchTurns(session, wanted) {
  const known = wanted.filter((turn) => turn.id !== PENDING && !turn.id.startsWith(UNSENT));
  /** @type {Map<string, Turn>} */
  const found = new Map();
  for (let before = ""; known.some((turn) => !found.has(turn.id)); ) {
    /** @type {Session} */
    const page = await call("GET", sessionPath(session, before && `?before=${encodeURIComponent(before)}`));
    for (const turn of page.turns) found.set(turn.id, turn);
    if (!page.turns.length || !page.earlier) break;
    before = page.turns[0].id;
  }
  return found;
}

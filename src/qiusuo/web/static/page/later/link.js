/** A link to one answer: found, also where it is far up in the conversation, brought into sight and focused. */
import { loadEarlier } from "../sessions.js";
import { getState, toast } from "../store.js";
import { tr } from "./tr.js";

/** So many frames the page may still change its layout; the reader's own hand ends it. */
const SETTLING = 20;

/** @param {string} id */
export async function showTurn(id) {
  const here = getState().current?.id;
  if (!here) return;
  while (!isThere(id) && getState().earlier > 0) {
    const { earlier, fetching } = getState();
    await loadEarlier();
    if (getState().current?.id !== here) return;
    // Somebody else may be fetching them; what could not be fetched was told.
    if (getState().earlier === earlier && !fetching && !getState().fetching) return;
    await frame();
  }
  if (!isThere(id)) return toast(tr("noSuchAnswer"), "error");
  const reader = new AbortController();
  for (const kind of ["wheel", "pointerdown", "keydown"]) {
    document.addEventListener(kind, () => reader.abort(), { signal: reader.signal, passive: true });
  }
  for (let frames = 0; frames < SETTLING && getState().current?.id === here && !reader.signal.aborted; frames++) {
    const turn = /** @type {HTMLElement | null} */ (document.querySelector(`[data-turn="${CSS.escape(id)}"]`));
    if (turn) bring(turn);
    await frame();
  }
  reader.abort();
}

/** @param {HTMLElement} turn */
function bring(turn) {
  turn.tabIndex = -1;
  if (document.activeElement !== turn) turn.focus({ preventScroll: true });
  turn.scrollIntoView({ block: "start", behavior: "instant" });
}

/** @param {string} id */
function isThere(id) {
  return getState().turns.some((turn) => turn.id === id);
}

function frame() {
  return new Promise((resolve) => requestAnimationFrame(resolve));
}

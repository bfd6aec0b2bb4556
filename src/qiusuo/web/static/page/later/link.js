/** A link to one answer: found, also where it is far up in the conversation, brought into sight and focused. */
import { loadEarlier } from "../sessions.js";
import { getState, toast } from "../store.js";
import { tr } from "./tr.js";

/** So many frames the page may still change its layout; the reader's own hand, or the next link, ends it. */
const SETTLING = 20;
let shown = new AbortController();

/** @param {string} id */
export async function showTurn(id) {
  const here = getState().current?.id;
  shown.abort();
  const mine = (shown = new AbortController());
  if (!here) return;
  while (!isThere(id) && getState().earlier > 0) {
    const { earlier, fetching } = getState();
    await loadEarlier();
    if (getState().current?.id !== here || mine.signal.aborted) return;
    // Somebody else may be fetching them; what could not be fetched was told.
    if (getState().earlier === earlier && !fetching && !getState().fetching) return;
    await frame();
  }
  if (!isThere(id)) return toast(tr("noSuchAnswer"), "error");
  for (const kind of ["wheel", "pointerdown", "keydown"]) {
    document.addEventListener(kind, () => mine.abort(), { signal: mine.signal, passive: true });
  }
  // Without a hand too: an assistive program moves the focus alone.
  document.addEventListener("focusin", ({ target }) => isTurn(target, id) || mine.abort(), { signal: mine.signal });
  for (let frames = 0; frames < SETTLING && getState().current?.id === here && !mine.signal.aborted; frames++) {
    const turn = /** @type {HTMLElement | null} */ (document.querySelector(`[data-turn="${CSS.escape(id)}"]`));
    if (turn) bring(turn);
    await frame();
  }
  mine.abort();
}

/**
 * @param {EventTarget | null} element
 * @param {string} id
 */
function isTurn(element, id) {
  return element instanceof HTMLElement && element.dataset.turn === id;
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

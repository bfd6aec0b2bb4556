/** Where browsers differ or refuse: what they keep, other tabs of the page, the keys of an input method. */

/** The path under which a proxy shows the server; blank where that is the root. */
export const ROOT = document.documentElement.dataset.root ?? "";

/** What a browser will not keep, because it refuses or is full; it holds until the page is closed. @type {Map<string, string>} */
const spare = new Map();

/** @param {"localStorage" | "sessionStorage"} where @param {string} key @returns {string | null} */
export function recall(where, key) {
  try {
    return globalThis[where].getItem(key) ?? spare.get(key) ?? null;
  } catch {
    return spare.get(key) ?? null;
  }
}

/** @param {"localStorage" | "sessionStorage"} where @param {string} key @param {string} value */
export function remember(where, key, value) {
  spare.delete(key);
  try {
    globalThis[where].setItem(key, value);
  } catch {
    spare.set(key, value);
  }
}

const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("qiusuo") : null;

/** @param {string | null} session null: the settings of the server */
export function announce(session) {
  channel?.postMessage({ session });
}

/** @param {(session: string | null) => void} listener */
export function onAnnounced(listener) {
  channel?.addEventListener("message", (event) => listener(event.data.session));
}

// Sent instead of the key while an input method is at work; Safari tells it only so for the Enter that chooses a word.
const AT_WORK = 229;

/** @param {KeyboardEvent} event @returns {boolean} an input method (for Chinese, say) takes the key */
export function isComposing(event) {
  return event.isComposing || event.keyCode === AT_WORK;
}

/** @param {KeyboardEvent} event @returns {boolean} Enter alone, which sends */
export function isSending(event) {
  return event.key === "Enter" && !event.shiftKey && !isComposing(event);
}

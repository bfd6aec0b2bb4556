/** What the browser keeps: for good, or for this tab. Some refuse, or are full; then it holds until the page is closed. */

/** @type {Map<string, string>} */
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

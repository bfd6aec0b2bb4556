/** What a key press means. */

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

/** Escape stops the answer that is being written, where nothing else wants the key. Loaded with the first question. */
import { isComposing } from "../browser.js";
import { getState } from "../store.js";
import { stop } from "../turns.js";

addEventListener("keydown", (event) => {
  if (event.key === "Escape" && getState().live && isFree(event)) void stop();
});

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} nobody else takes it: who does prevents the default, but for what the browser itself closes or empties
 */
function isFree(event) {
  // A key that is held has closed something already.
  if (event.defaultPrevented || event.repeat || isComposing(event)) return false;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || document.querySelector("dialog:modal")) return false;
  return !(/** @type {Element} */ (event.target).matches?.("select, [type=search]:not(:placeholder-shown)"));
}

/** Draws the page and starts it. */
import { isComposing } from "./browser.js";
import { html } from "./html.js";
import { applyPreferences } from "./i18n.js";
import { App } from "./parts/app.js";
import { start, watchOtherTabs } from "./sessions.js";
import { getState } from "./store.js";
import { stop } from "./turns.js";
import { render } from "./vendor.js";

applyPreferences();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyPreferences);
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren();
render(html`<${App} />`, root);
watchOtherTabs();
const install = () => void import("./later/install.js");
// The words are waited for, so the page may be loaded by now.
if (document.readyState === "complete") install();
else addEventListener("load", install);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && getState().live && isFree(event)) void stop();
});
addEventListener("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
  const writing = /** @type {Element} */ (target).closest?.("input, textarea, select, dialog");
  if (key !== "?" || writing || ctrlKey || metaKey || altKey) return;
  void import("./later/keys.js").then(({ showKeys }) => showKeys(true));
});
void start();

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} nothing else wants Escape: who takes it prevents the default, save for what the browser itself closes or
 *   empties; a key that is held has closed something already
 */
function isFree(event) {
  if (event.defaultPrevented || event.repeat || isComposing(event)) return false;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || document.querySelector("dialog:modal")) return false;
  const field = /** @type {Element} */ (event.target).closest?.("input[type=search], select");
  return !(field instanceof HTMLSelectElement) && !(field instanceof HTMLInputElement && field.value);
}

/** Draws the page and starts it. */
import { html } from "./html.js";
import { applyPreferences } from "./i18n.js";
import { App } from "./parts/app.js";
import { start, watchOtherTabs } from "./sessions.js";
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
addEventListener("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
  const writing = /** @type {Element} */ (target).closest?.("input, textarea, select, dialog");
  if (key !== "?" || writing || ctrlKey || metaKey || altKey) return;
  void import("./later/keys.js").then(({ showKeys }) => showKeys(true));
});
void start();

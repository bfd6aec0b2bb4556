/** Draws the board, or a person's own usage, and starts it. */
import { html } from "../html.js";
import { applyPreferences } from "../i18n.js";
import { render } from "../vendor.js";
import { Board } from "./page.js";

applyPreferences();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyPreferences);
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren();
render(html`<${Board} />`, root);

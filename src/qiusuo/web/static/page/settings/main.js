/** Draws the settings page and starts it. */
import { html } from "../html.js";
import { applyPreferences } from "../i18n.js";
import { render } from "../vendor.js";
import { App, start } from "./app.js";

applyPreferences();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyPreferences);
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren();
render(html`<${App} />`, root);
void start();

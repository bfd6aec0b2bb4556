/** A button that copies a text. */
import { copy } from "../clipboard.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { Icon } from "./icons.js";

/** @param {{text: string, label?: string}} props */
export function CopyButton({ text, label = t("copy") }) {
  return html`
    <button type="button" class="quiet" onClick=${() => void copy(text)}><${Icon} name="copy" /><span>${label}</span></button>
  `;
}

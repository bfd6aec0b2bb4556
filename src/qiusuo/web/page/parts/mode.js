/** Chat or Agent. */
import { html } from "../html.js";
import { t } from "../i18n.js";

/** @import { Mode } from "../types.js" */

/** @param {{mode: Mode, onChange: (mode: Mode) => void}} props */
export function ModePicker({ mode, onChange }) {
  /** @param {Mode} value @param {string} label */
  const choice = (value, label) => html`
    <label class=${mode === value ? "chosen" : ""}>
      <input type="radio" name="mode" value=${value} checked=${mode === value} onChange=${() => onChange(value)} />
      <span>${label}</span>
    </label>
  `;
  return html`
    <fieldset class="modes">
      <legend class="unseen">${t("mode")}</legend>
      ${choice("chat", t("chatMode"))} ${choice("agent", t("agentMode"))}
    </fieldset>
  `;
}

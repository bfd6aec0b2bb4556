/** The search switch. On, off and disabled each look different; a disabled one never looks on. */
import { html } from "../html.js";
import { t } from "../i18n.js";

/**
 * @param {{state: "on" | "off" | "disabled", busy: boolean, describedBy: string, onChange: (on: boolean) => void}} props
 */
export function SearchSwitch({ state, busy, describedBy, onChange }) {
  const words = state === "on" ? t("on") : state === "off" ? t("off") : t("byAi");
  return html`
    <span class="switch-row">
      <span class="switch-label" id="switch-label"><span aria-hidden="true">🔍</span> ${t("webSearch")}</span>
      <span class="switch-state" aria-hidden="true">${words}</span>
      <button
        type="button"
        role="switch"
        class=${`switch ${state}`}
        aria-checked=${state === "on" ? "true" : "false"}
        aria-labelledby="switch-label"
        aria-describedby=${describedBy}
        aria-busy=${busy ? "true" : "false"}
        disabled=${state === "disabled"}
        onClick=${() => onChange(state !== "on")}
      >
        <span class="knob"></span>
      </button>
    </span>
  `;
}

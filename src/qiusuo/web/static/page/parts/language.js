/** The choice of the page's language; each one is called by its own name. */
import { html } from "../html.js";
import { getLanguage, languages, setLanguage, t } from "../i18n.js";

/** @import { Language } from "../types.js" */

export function LanguageChoice() {
  /** @param {{currentTarget: HTMLSelectElement}} event */
  const choose = async ({ currentTarget }) => {
    try {
      await setLanguage(/** @type {Language} */ (currentTarget.value));
    } catch {
      currentTarget.value = getLanguage(); // its words could not be had
      return;
    }
    // The page is drawn anew; who chooses by the keyboard goes on from here.
    setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector("select.language"))?.focus());
  };
  return html`
    <select class="quiet language" aria-label=${t("languages")} value=${getLanguage()} onChange=${choose}>
      ${languages().map(([name, tag, words]) => html`<option key=${name} value=${name} lang=${tag}>${words}</option>`)}
    </select>
  `;
}

/** The small parts: SearXNG, language and look, privacy. */
import { html } from "../html.js";
import { getLanguage, getTheme, languages, setLanguage, setTheme } from "../i18n.js";
import { edit, valueOf } from "./desk.js";
import { FindingsOf } from "./doctor.js";
import { Row, TextRow, Toggle, idOf, isFixed, whereOf } from "./fields.js";
import { SavedSheet, Sheet } from "./sheet.js";
import { tr } from "./tr.js";
import { TryButton } from "./trying.js";

/** @import { Language } from "../types.js" */
/** @import { Theme } from "../i18n.js" */
/** @import { SettingsData } from "./types.js" */

/** @param {{data: SettingsData}} props */
export function SearxngSheet({ data }) {
  const address = () => String(valueOf("searxng_url")).trim();
  return html`
    <${SavedSheet} part="searxng" title="SearXNG" about=${tr("searxngAbout")}>
      <${TextRow}
        name="searxng_url"
        label=${tr("address")}
        where=${whereOf("searxng_url")}
        placeholder=${data.fields.searxng_url?.default ?? "http://localhost:8080"}
      >
        <${TryButton} what="SearXNG" ask=${() => ({ kind: "searxng", base_url: address() || data.fields.searxng_url?.default })} />
      <//>
      <${FindingsOf} check="searxng" />
    <//>
  `;
}

export function LookSheet() {
  return html`
    <${Sheet} id="look" title=${tr("look")} about=${tr("lookAbout")}>
      <${Choices}
        name="language"
        legend=${tr("language")}
        value=${getLanguage()}
        options=${languages().map(([name, , words]) => [name, words])}
        onChange=${(/** @type {Language} */ value) => void setLanguage(value).catch(() => {})}
      />
      <${Choices}
        name="theme"
        legend=${tr("theme")}
        value=${getTheme()}
        options=${[
          ["auto", tr("themeAuto")],
          ["light", tr("themeLight")],
          ["dark", tr("themeDark")],
        ]}
        onChange=${(/** @type {Theme} */ value) => setTheme(value)}
      />
    <//>
  `;
}

/** @param {{name: string, legend: string, value: string, options: [string, string][], onChange: (value: any) => void}} props */
function Choices({ name, legend, value, options, onChange }) {
  return html`
    <fieldset class="row choices">
      <legend class="name">${legend}</legend>
      <div class="modes">
        ${options.map(
          ([one, words]) => html`
            <label key=${one} class=${one === value ? "chosen" : ""}>
              <input type="radio" name=${name} value=${one} checked=${one === value} onChange=${() => onChange(one)} />
              <span>${words}</span>
            </label>
          `,
        )}
      </div>
    </fieldset>
  `;
}

/** @param {{data: SettingsData}} props */
export function PrivacySheet({ data }) {
  const where = whereOf("log_queries");
  const on = valueOf("log_queries") === true;
  return html`
    <${SavedSheet} part="privacy" title=${tr("privacy")} about=${tr("privacyAbout")}>
      ${data.fields.retention_days &&
      html`<${TextRow}
        name="retention_days"
        label=${tr("retention")}
        about=${tr("retentionAbout")}
        where=${whereOf("retention_days")}
        numeric
      />`}
      <${Row} name="log_queries" label=${tr("logQueries")} about=${tr("logQueriesAbout")} where=${where} labelled=${false}>
        <${Toggle}
          id=${idOf("log_queries")}
          label=${tr("logQueries")}
          on=${on}
          disabled=${isFixed(where)}
          describedBy=${`${idOf("log_queries")}-about`}
          onChange=${(/** @type {boolean} */ wanted) => edit("log_queries", wanted)}
        />
        <span class="state">${on ? tr("on") : tr("off")}</span>
      <//>
    <//>
  `;
}

/** The small parts: SearXNG, law packs, language and look, privacy, people. */
import { call, refusedWith } from "../api.js";
import { html } from "../html.js";
import { getLanguage, getTheme, setLanguage, setTheme } from "../i18n.js";
import { useEffect, useState } from "../vendor.js";
import { edit, messageOf, valueOf } from "./desk.js";
import { FindingsOf } from "./doctor.js";
import { Row, TextRow, Toggle, idOf, isFixed, whereOf } from "./fields.js";
import { SavedSheet, Sheet } from "./sheet.js";
import { tr } from "./tr.js";
import { TryButton } from "./trying.js";

/** @import { Language } from "../types.js" */
/** @import { Theme } from "../i18n.js" */
/** @import { Pack, SettingsData } from "./types.js" */

const PROGRESS_MS = 2000;

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

/** Laws that can be fetched, where a plug-in has some. */
export function PacksSheet() {
  const [packs, setPacks] = useState(/** @type {Pack[] | null} */ (null));
  const [failed, setFailed] = useState("");
  const [looks, setLooks] = useState(0);
  useEffect(() => {
    let timer = 0;
    let gone = false;
    call("GET", "/api/legal/packs")
      .then((found) => {
        if (gone) return;
        setPacks(found.packs ?? []);
        setFailed("");
        if (found.packs?.some(isWorking)) timer = window.setTimeout(() => setLooks((count) => count + 1), PROGRESS_MS);
      })
      .catch((error) => {
        if (!gone && !refusedWith(error, 404)) setFailed(messageOf(error));
      });
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [looks, getLanguage()]);
  /** @param {"POST" | "DELETE"} method @param {string} name */
  const ask = async (method, name) => {
    try {
      await call(method, `/api/legal/packs/${encodeURIComponent(name)}`, {});
      setLooks((count) => count + 1);
    } catch (error) {
      setFailed(messageOf(error));
    }
  };
  if (!packs?.length && !failed) return null;
  return html`
    <${Sheet} id="packs" title=${tr("packs")} about=${tr("packsAbout")}>
      ${failed && html`<p class="fault" role="alert">${failed}</p>`}
      <ul class="engines">
        ${packs?.map((pack) => html`<${PackCard} key=${pack.name} pack=${pack} onAsk=${ask} />`)}
      </ul>
    <//>
  `;
}

/** @param {Pack} pack @returns {boolean} */
function isWorking(pack) {
  return /load|run|work|build|prepar|install(ing)|fetch|queue|wait/.test(pack.state);
}

/** @param {{pack: Pack, onAsk: (method: "POST" | "DELETE", name: string) => void}} props */
function PackCard({ pack, onAsk }) {
  const label = pack.label || pack.name;
  const working = isWorking(pack);
  const there = /^(installed|ready|done)$/.test(pack.state);
  return html`
    <li class="card">
      <div class="engine-line">
        <span class="engine-name"><b>${label}</b><span class="state">${pack.words ?? pack.state}</span></span>
        ${!working &&
        html`<button type="button" aria-label=${`${there ? tr("remove") : tr("fetch")}: ${label}`}
          onClick=${() => onAsk(there ? "DELETE" : "POST", pack.name)}>${there ? tr("remove") : tr("fetch")}</button>`}
      </div>
      ${working && html`<progress aria-label=${label} value=${pack.total ? pack.done : undefined} max=${pack.total || undefined}></progress>`}
    </li>
  `;
}

export function LookSheet() {
  return html`
    <${Sheet} id="look" title=${tr("look")} about=${tr("lookAbout")}>
      <${Choices}
        name="language"
        legend=${tr("language")}
        value=${getLanguage()}
        options=${[
          ["zh", "中文"],
          ["en", "English"],
        ]}
        onChange=${(/** @type {Language} */ value) => setLanguage(value)}
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

export function PeopleSheet() {
  return html`
    <${Sheet} id="people" title=${tr("people")}>
      <p>${tr("peopleAbout")}</p>
      <p class="command"><code>QIUSUO_TOKENS=anna:…:operator,ben:…</code></p>
      <p><a href=${`/docs/configuration?lang=${getLanguage()}`} target="_blank">${tr("peopleDocs")}</a></p>
    <//>
  `;
}

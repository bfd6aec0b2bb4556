/** Where a conversation searches: chosen and shown at the composer, told in each turn. */
import { isComposing } from "../browser.js";
import { html } from "../html.js";
import { inWords, listed } from "../i18n.js";
import { Icon } from "../parts/icons.js";
import { changeSettings, focusQuestion } from "../sessions.js";
import { getState, useStore } from "../store.js";
import { useRef, useState } from "../vendor.js";
import { loadStyle } from "./style.js";
import { tr } from "./tr.js";

/** @import { Named, Scope, Settings } from "../types.js" */

const WEB = "web";
void loadStyle("focus.css");

/** @param {Named[] | undefined} among @param {string | null | undefined} name @returns {string} */
function labelOf(among, name) {
  return inWords(among?.find((one) => one.name === name)?.label) || (name ?? "");
}

/** @param {Scope} scope @returns {string} what is searched, in a line */
export function scopeText({ focus = WEB, sites = [], freshness = null }) {
  const { focuses, freshness: times } = getState().config ?? {};
  const where = focus !== WEB || !(sites.length || freshness) ? labelOf(focuses, focus) : "";
  return listed(where, freshness && labelOf(times, freshness), ...sites);
}

/**
 * Keep the conversation to something. Who says where to search wants a search.
 *
 * @param {Scope} values
 */
export function narrow(values) {
  const { settings } = getState();
  const wider = values.focus === WEB || values.freshness === null || values.sites?.length === 0;
  const on = !wider && settings.mode === "chat" && !settings.search ? { search: true } : {};
  return changeSettings(/** @type {Partial<Settings>} */ ({ ...values, ...on }), tr("scope", { scope: scopeText({ ...settings, ...values }) }));
}

/** @param {string} text @returns {string[]} the sites that are named in it */
export function sitesIn(text) {
  return text.split(/[\s,，、]+/).filter(Boolean);
}

/** @param {{open: boolean}} props `open`: all that can be chosen is shown, else what is */
export function FocusBar({ open }) {
  const settings = useStore((state) => state.settings);
  const focuses = useStore((state) => state.config?.focuses ?? []);
  const times = useStore((state) => state.config?.freshness ?? []);
  const { focus = WEB, sites = [], freshness = null } = settings;
  /** @param {string} label @param {Scope} without */
  const chip = (label, without) => html`
    <li key=${label} class="focus-chip">
      ${label}
      <button type="button" class="quiet" aria-label=${tr("widen", { what: label })} onClick=${() => (focusQuestion(), void narrow(without))}><${Icon} name="close" /></button>
    </li>
  `;
  return html`
    <div class="focus" role="group" aria-label=${tr("focusAbout")}>
      ${open && html`<${Choice} label=${tr("focusWhat")} value=${focus} among=${focuses} onChange=${(/** @type {string} */ name) => narrow({ focus: name })} />`}
      ${open && html`<${Choice} label=${tr("focusTime")} value=${freshness ?? ""} among=${times} onChange=${(/** @type {string} */ name) => narrow({ freshness: /** @type {Scope["freshness"]} */ (name || null) })} />`}
      <ul>
        ${!open && focus !== WEB && chip(labelOf(focuses, focus), { focus: WEB })}
        ${!open && freshness && chip(labelOf(times, freshness), { freshness: null })}
        ${sites.map((site) => chip(site, { sites: sites.filter((one) => one !== site) }))}
      </ul>
      ${open && html`<${SiteField} sites=${sites} />`}
    </div>
  `;
}

/** @param {{label: string, value: string, among: Named[], onChange: (name: string) => void}} props */
function Choice({ label, value, among, onChange }) {
  return html`
    <select aria-label=${label} value=${value} onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ event) => onChange(event.currentTarget.value)}>
      ${among.map((one) => html`<option key=${one.name} value=${one.name}>${inWords(one.label)}</option>`)}
    </select>
  `;
}

/** @param {{sites: string[]}} props */
function SiteField({ sites }) {
  const [text, setText] = useState("");
  const refused = useRef("");
  const add = async () => {
    const named = sitesIn(text);
    if (!named.length) return;
    refused.current = text;
    await narrow({ sites: [...new Set([...sites, ...named])] });
    // What the server refused can be mended where it stands.
    if ((getState().settings.sites ?? []).length > sites.length) setText("");
  };
  return html`
    <input
      type="text"
      inputmode="url"
      autocapitalize="none"
      spellcheck=${false}
      aria-label=${tr("addSite")}
      placeholder=${tr("addSite")}
      value=${text}
      onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => setText(event.currentTarget.value)}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Enter" || isComposing(event)) return;
        event.preventDefault();
        void add();
      }}
      onBlur=${() => text !== refused.current && void add()}
    />
  `;
}

/** @param {{scope: Scope}} props */
export function ScopeLine({ scope }) {
  return html`<p class="hint scope">${tr("searchedIn", { scope: scopeText(scope) })}</p>`;
}

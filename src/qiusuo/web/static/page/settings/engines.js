/** The search engines: who is asked, in which order, with which keys and limits. */
import { html } from "../html.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor.js";
import { Command } from "../parts/copy.js";
import { REMOVED, edit, getDesk } from "./desk.js";
import { ChoiceRow, SecretRow, TextRow, Toggle, whereOf } from "./fields.js";
import { NATIVE, ORDER, drag, isAutomatic, labelOf, move, moveByKey, orderOf, turn } from "./order.js";
import { SavedSheet } from "./sheet.js";
import { tr } from "./tr.js";
import { TryButton } from "./trying.js";

/** @import { EngineEntry, SettingsData } from "./types.js" */

const STATES = /** @type {const} */ ({
  ready: "stateReady",
  resting: "stateResting",
  idle: "stateIdle",
  missing: "stateMissing",
});
const DEPTHS = /** @type {const} */ ({ snippets: "depthSnippets", auto: "depthAuto", read: "depthRead" });

/** @param {{data: SettingsData}} props */
export function EnginesSheet({ data }) {
  const order = orderOf(data);
  const fixed = data.order.source === "environment";
  const known = [NATIVE, ...data.engines.map((engine) => engine.name)];
  const off = known.filter((name) => !order.includes(name));
  const wrong = getDesk().errors[ORDER];
  return html`
    <${SavedSheet} part="engines" title=${tr("engines")} about=${tr("enginesAbout")}>
      <p class="lead" id="order-about">
        ${fixed
          ? tr("fromEnvironment", { variable: data.fields[ORDER]?.variable || "SEARCH_PROVIDER_PRIORITY" })
          : isAutomatic(data)
            ? tr("orderAutomatic")
            : tr("orderChosen")}
        ${!fixed &&
        !isAutomatic(data) &&
        html`${" "}<button type="button" class="inline" onClick=${() => edit(ORDER, "")}>${tr("orderReset")}</button>`}
      </p>
      ${wrong && html`<p class="wrong">${wrong}</p>`}
      <ol class="engines" aria-label=${tr("orderName")}>
        ${order.map(
          (name, place) => html`
            <${EngineCard} key=${name} data=${data} name=${name} place=${place} count=${order.length} fixed=${fixed} />
          `,
        )}
      </ol>
      <${Others} data=${data} names=${off} fixed=${fixed} alone=${order.every((name) => name === NATIVE)} />
      <h3>${tr("newConversations")}</h3>
      <${ChoiceRow}
        name="search_default"
        label=${tr("searchDefault")}
        where=${whereOf("search_default")}
        options=${[
          ["", tr("searchDefaultAuto")],
          ["true", tr("on")],
          ["false", tr("off")],
        ]}
        write=${(/** @type {string} */ text) => (text ? text === "true" : "")}
      />
      <${ChoiceRow}
        name="depth"
        label=${tr("depth")}
        where=${whereOf("depth")}
        options=${Object.entries(DEPTHS).map(([value, words]) => [value, tr(words)])}
      />
    <//>
  `;
}

/**
 * Those that are not asked, out of the way of those that are.
 *
 * @param {{data: SettingsData, names: string[], fixed: boolean, alone: boolean}} props `alone`: there are no others
 */
function Others({ data, names, fixed, alone }) {
  const [open, setOpen] = useState(alone);
  const { drafts, errors } = getDesk();
  const touched = Object.keys({ ...drafts, ...errors }).some((one) => names.some((name) => one.startsWith(`engines.${name}.`)));
  if (!names.length) return null;
  return html`
    <details
      class="off-engines"
      open=${open || touched}
      onToggle=${(/** @type {{currentTarget: HTMLDetailsElement}} */ event) => setOpen(event.currentTarget.open)}
    >
      <summary>${tr("enginesOff", { count: names.length })}</summary>
      <ul class="engines">
        ${names.map((name) => html`<${EngineCard} key=${name} data=${data} name=${name} place=${-1} count=${0} fixed=${fixed} />`)}
      </ul>
    </details>
  `;
}

/** @param {{data: SettingsData, name: string, place: number, count: number, fixed: boolean}} props */
function EngineCard({ data, name, place, count, fixed }) {
  const engine = data.engines.find((one) => one.name === name);
  const label = labelOf(data, name);
  const on = place >= 0;
  const mine = `engines.${name}.`;
  const { drafts, errors } = getDesk();
  const touched = Object.keys({ ...drafts, ...errors }).some((one) => one.startsWith(mine));
  const typed = typeof drafts[`${mine}api_key`] === "string";
  // Without its key it cannot be asked; it may be had with the key that is being typed.
  const usable = name === NATIVE || engine?.state !== "missing" || typed;
  useEffect(() => {
    if (typed && !on && !fixed && !isAutomatic(data)) turn(data, name, true);
  }, [typed]);
  return html`
    <li class=${touched ? "card engine changed" : "card engine"}>
      <div class="engine-line">
        ${on && !fixed && html`<${Handle} name=${name} label=${label} place=${place} count=${count} />`}
        <span class="engine-name"><b>${label}</b>${engine && html`<${StateWord} engine=${engine} on=${on} />`}</span>
        <${Toggle}
          label=${label}
          on=${on}
          disabled=${fixed || (!on && !usable)}
          onChange=${(/** @type {boolean} */ wanted) => turn(data, name, wanted)}
        />
      </div>
      ${name === NATIVE && html`<p class="about">${tr("nativeAbout")}</p>`}
      ${on && engine && engine.state !== "ready" && html`<p class="about">${engine.reason} ${engine.fix}</p>`}
      ${engine && html`<${EngineDetails} data=${data} engine=${engine} place=${place} count=${count} touched=${touched} />`}
    </li>
  `;
}

/** @param {{engine: EngineEntry, on: boolean}} props */
function StateWord({ engine, on }) {
  const words = STATES[/** @type {keyof typeof STATES} */ (engine.state)];
  const tone = engine.state === "ready" && on ? "state good" : engine.state === "resting" ? "state poor" : "state";
  return html`<span class=${tone}>${words ? tr(words) : engine.state}</span>`;
}

/** What an engine is moved by. @param {{name: string, label: string, place: number, count: number}} props */
function Handle({ name, label, place, count }) {
  /** @type {{current: HTMLButtonElement | null}} */
  const button = useRef(null);
  const pressed = useRef(false);
  useLayoutEffect(() => {
    // A row that has changed its place has lost the focus.
    if (pressed.current) button.current?.focus();
    pressed.current = false;
  }, [place]);
  return html`
    <button
      ref=${button}
      type="button"
      class="handle"
      aria-label=${tr("moveEngine", { engine: label, place: place + 1, count })}
      title=${tr("moveHow")}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
        pressed.current = true;
        moveByKey(event, name, place);
      }}
      onPointerDown=${(/** @type {PointerEvent} */ event) => drag(event, name)}
    >
      <span aria-hidden="true">⠿</span>
    </button>
  `;
}

/** @param {{data: SettingsData, engine: EngineEntry, place: number, count: number, touched: boolean}} props */
function EngineDetails({ data, engine, place, count, touched }) {
  const { name, label } = engine;
  const [key, quota, pace, address] = ["api_key", "monthly_quota", "requests_per_second", "base_url"].map(
    (leaf) => `engines.${name}.${leaf}`,
  );
  const { drafts, errors } = getDesk();
  /** @type {{current: HTMLDetailsElement | null}} */
  const box = useRef(null);
  const wrong = Object.keys(errors).some((one) => one.startsWith(`engines.${name}.`));
  useLayoutEffect(() => {
    if (wrong && box.current) box.current.open = true;
  }, [wrong]);
  const ask = () => {
    const draft = drafts[key];
    const typed = drafts[address];
    return {
      kind: "engine",
      name,
      api_key: typeof draft === "string" ? draft.trim() : undefined,
      base_url: typeof typed === "string" && typed.trim() ? typed.trim() : undefined,
    };
  };
  const test = html`<${TryButton} what=${label} ask=${ask} disabled=${drafts[key] === REMOVED} />`;
  const searxng = name === "searxng";
  return html`
    <details ref=${box}>
      <summary>${tr("engineMore")}${touched && html`<span class="mark">${tr("unsaved")}</span>`}</summary>
      ${place < 0 && engine.reason && html`<p class="about">${engine.reason} ${engine.fix}</p>`}
      ${engine.commands.map((command) => html`<${Command} key=${command} command=${command} />`)}
      ${searxng && html`<p class="about"><a href="#searxng">${tr("searxngBelow")}</a></p>`}
      ${engine.key && html`<${SecretRow} name=${key} label=${tr("key")} secret=${engine.key} about=${keyLink(engine)}>${test}<//>`}
      ${!engine.key && !searxng && html`<div class="row"><div class="control">${test}</div></div>`}
      <${TextRow} name=${quota} label=${tr("quota")} about=${quotaAbout(engine)} numeric />
      <${TextRow} name=${pace} label=${tr("pace")} about=${tr("paceAbout")} numeric />
      ${!searxng &&
      engine.address &&
      html`<${TextRow} name=${address} label=${tr("address")} about=${tr("addressAbout")} where=${engine.address}
        placeholder=${engine.address.value ?? ""} />`}
      ${place >= 0 &&
      data.order.source !== "environment" &&
      html`
        <p class="movers">
          <button type="button" disabled=${place === 0} onClick=${() => move(name, place - 1)}>${tr("moveUp")}</button>
          <button type="button" disabled=${place === count - 1} onClick=${() => move(name, place + 1)}>${tr("moveDown")}</button>
        </p>
      `}
    </details>
  `;
}

/** @param {EngineEntry} engine */
function keyLink({ docs_url: link, costs_money: paid }) {
  const safe = /^https:\/\//.test(link);
  return html`
    ${paid && `${tr("costsMoney")} `}${safe && html`<a href=${link} target="_blank" rel="noreferrer">${tr("whereKeys")}</a>`}
  `;
}

/** @param {EngineEntry} engine @returns {string} */
function quotaAbout({ quota_used: used }) {
  return used === null || used === undefined ? tr("quotaAbout") : tr("quotaUsed", { used });
}

/** The settings panel: in the sidebar, on phones in the strip at the top. Always there, never under messages. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { changeSettings, newChat } from "../sessions.js";
import { change, getState, putAway, useStore } from "../store.js";
import { useState } from "../vendor.js";
import { searchAlways, searchesAlways } from "../wishes.js";
import { Icon } from "./icons.js";
import { isIncomplete } from "./welcome.js";

/** @import { Config, Mode, Settings } from "../types.js" */

/** @param {Config | null} config @param {Settings} settings @returns {string} the engine that will be asked */
export function engineInUse(config, settings) {
  const named = config?.engines.find((engine) => engine.name === settings.engine);
  return (named ?? config?.search.engine)?.label ?? "";
}

/** @param {Config | null} config @param {Settings} settings @returns {string} what stands under the switch */
function switchNote(config, settings) {
  if (settings.switch === "disabled") return t("agentNote");
  if (!config) return "\u00a0"; // a moment, or until there is a token
  const engine = engineInUse(config, settings);
  // Chosen by the server only where there is no engine for the web.
  if (!settings.engine && config.search.engine && !config.search.engine.web) return t("searchOnly", { engine });
  return engine ? t("searchAbout", { engine }) : t("searchNone");
}

/** Mode and switch, with the line that explains them. */
export function SettingsControls() {
  const settings = useStore((state) => state.settings);
  const saving = useStore((state) => state.saving);
  const config = useStore((state) => state.config);
  const agent = settings.switch === "disabled";
  return html`
    <${ModePicker}
      mode=${settings.mode}
      onChange=${(/** @type {Settings["mode"]} */ mode) =>
        changeSettings({ mode }, t(mode === "agent" ? "saidAgent" : "saidChat"))}
    />
    <${SearchSwitch}
      state=${settings.switch}
      busy=${saving}
      describedBy="switch-note"
      onChange=${(/** @type {boolean} */ search) => changeSettings({ search }, t(search ? "saidOn" : "saidOff"))}
    />
    <p id="switch-note" class=${agent ? "switch-note agent" : "switch-note"}>${switchNote(config, settings)}</p>
  `;
}

/** @param {{mode: Mode, onChange: (mode: Mode) => void}} props */
function ModePicker({ mode, onChange }) {
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

/**
 * On, off and disabled each look different; a disabled one never looks on.
 *
 * @param {{state: "on" | "off" | "disabled", busy: boolean, describedBy: string, onChange: (on: boolean) => void}} props
 */
function SearchSwitch({ state, busy, describedBy, onChange }) {
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

/** Model, engine, number of results. */
export function MoreSettings() {
  const settings = useStore((state) => state.settings);
  const config = useStore((state) => state.config);
  const [, redraw] = useState(0);
  if (!config) return null;
  const { model, engines, search } = config;
  const auto = search.engine ? t("engineAuto", { engine: search.engine.label }) : t("engineAutoNone");
  const shown = engineInUse(config, settings);
  const answering = config.models?.find((one) => one.name === settings.model) ?? model;
  return html`
    <dl class="facts">
      <div><dt>${t("model")}</dt><dd title=${answering.kind === "extractive" ? t("extractive") : answering === model ? model.name : answering.label}>${answering === model && model.kind === "extractive" ? t("engineMissing") : modelLabel(answering)}</dd></div>
      <div><dt>${t("engine")}</dt><dd>${shown || t("engineMissing")}</dd></div>
    </dl>
    ${model.kind === "extractive" && html`<p class="hint">${t("extractive")}</p>`}
    ${model.kind !== "extractive" &&
    html`<label class="hint always">
      <input
        type="checkbox"
        checked=${searchesAlways()}
        onChange=${(/** @type {{currentTarget: HTMLInputElement}} */ { currentTarget }) => {
          searchAlways(currentTarget.checked);
          redraw((count) => count + 1);
        }}
      />
      ${t("searchAlways")}
    </label>`}
    <${StartAgain} config=${config} />
    <details class="more">
      <summary>${t("more")}</summary>
      <label class="field">
        <span>${t("engine")}</span>
        <select
          value=${settings.engine ?? ""}
          onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ { currentTarget }) => {
            const engine = currentTarget.value || null;
            const label = engines.find((one) => one.name === engine)?.label ?? auto;
            changeSettings({ engine }, t("saidEngine", { engine: label }));
          }}
        >
          <option value="">${auto}</option>
          ${engines.map(
            (engine) => html`
              <option key=${engine.name} value=${engine.name} disabled=${engine.state === "missing"}>
                ${engine.label}${engineState(engine.state)}
              </option>
            `,
          )}
        </select>
      </label>
      <label class="field">
        <span>${t("results")}</span>
        <select
          value=${String(settings.results)}
          onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ { currentTarget }) => {
            const results = Number(currentTarget.value);
            changeSettings({ results }, t("saidResults", { count: results }));
          }}
        >
          ${[1, 2, 3, 4, 5].map((count) => html`<option key=${count} value=${String(count)}>${count}</option>`)}
        </select>
      </label>
      <label class="field">
        <span>${t("depth")}</span>
        <select
          value=${settings.depth ?? ""}
          onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ { currentTarget }) => {
            const depth = /** @type {Settings["depth"]} */ (currentTarget.value || null);
            changeSettings({ depth }, t("saidDepth", { depth: depthName(depth, config) }));
          }}
        >
          <option value="">${depthName(null, config)}</option>
          ${DEPTHS.map((depth) => html`<option key=${depth} value=${depth}>${depthName(depth, config)}</option>`)}
        </select>
      </label>
    </details>
  `;
}

/** Brings the card back that was put away, while there is something on it. @param {{config: Config}} props */
function StartAgain({ config }) {
  const wanted = useStore((state) => state.away && config.operator && isIncomplete(config, state.findings));
  const show = () => {
    putAway(false);
    if (getState().turns.length) newChat();
    else change({ drawer: false });
  };
  return wanted && html`<button type="button" class="quiet" onClick=${show}><${Icon} name="info" />${t("setup")}</button>`;
}

const DEPTHS = /** @type {const} */ (["snippets", "auto", "read"]);

/** @param {Settings["depth"]} depth @param {Config} config @returns {string} */
export function depthName(depth, config) {
  const names = { snippets: t("depthSnippets"), auto: t("depthAuto"), read: t("depthRead") };
  return depth ? names[depth] : t("depthUsual", { depth: names[config.depth] });
}

/** @param {{label: string, kind: string}} model @returns {string} what answers without one is called so by us alone */
export function modelLabel({ label, kind }) {
  return kind === "extractive" ? t("excerpts") : label;
}

/** @param {string} state */
function engineState(state) {
  if (state === "missing") return ` · ${t("engineMissing")}`;
  return state === "resting" ? ` · ${t("engineResting")}` : "";
}

export function SettingsPanel() {
  return html`
    <section class="panel" aria-labelledby="settings-title">
      <h2 id="settings-title" class="unseen">${t("settings")}</h2>
      <${SettingsControls} />
      <${MoreSettings} />
    </section>
  `;
}

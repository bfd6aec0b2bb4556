/** The card of an empty conversation: what there is, what is still to be set up, and doing it in place. */
import { call, refusedWith } from "../api.js";
import { html } from "../html.js";
import { getLanguage, t } from "../i18n.js";
import { Command } from "../parts/copy.js";
import { IconButton } from "../parts/icons.js";
import { docLink } from "../parts/notice.js";
import { hasNoModel, isSerious } from "../parts/welcome.js";
import { ROOT, announce } from "../browser.js";
import { messageOf } from "../failures.js";
import { placeOf, withoutShell } from "../places.js";
import { focusQuestion, keepSettings, loadStatus } from "../sessions.js";
import { change, putAway, toast } from "../store.js";
import { useEffect, useState } from "../vendor.js";
import { KeyBox } from "./keybox.js";
import { loadStyle } from "./style.js";
import { tr } from "./tr.js";

/** @import { Config, Finding } from "../types.js" */
/** @import { EngineEntry, FoundServer, SettingsData } from "../settings/types.js" */

const MOST_OFFERED = 2;
const MODEL = "export QIUSUO_MODEL=ollama:qwen3";

await loadStyle("start.css");

/** @param {{findings: Finding[], config: Config}} props */
export function StartCard({ findings, config }) {
  const { operator, search } = config;
  const [data, setData] = useState(/** @type {SettingsData | null} */ (null));
  const [servers, setServers] = useState(/** @type {FoundServer[]} */ ([]));
  const serious = findings.filter(isSerious);
  // What the doctor warns of is no tick on the list: a model that does not answer, say.
  const troubled = new Set(serious.map((finding) => finding.code.split(".")[0]));
  const noModel = hasNoModel(config);
  const wantsModel = noModel || troubled.has("model");
  useEffect(() => {
    if (!operator) return;
    void call("GET", "/api/settings").then(setData, () => setData(null));
    if (wantsModel) void call("GET", "/api/settings/found").then((found) => setServers(found.servers), () => {});
  }, [operator, wantsModel, getLanguage()]);
  /** @param {Record<string, unknown>} set @param {string} what @param {string[]} [unset] */
  const use = async (set, what, unset = []) => {
    if (!data) return;
    setData(await patched(data, set, unset));
    keepSettings(); // with a model new conversations begin without search; this one was seen with it
    // The card may go with what it has brought about, so it is said where the card stood.
    if (set.model) change({ note: () => tr("nowAnswers", { model: what }) });
    else toast(tr("nowUsed", { what }));
    announce(null);
    await loadStatus();
    focusQuestion();
  };
  const able = operator && data?.writable;
  return html`
    <section class="setup" aria-labelledby="setup-title">
      <h3 id="setup-title">${t("setup")}</h3>
      ${operator && html`<${IconButton} class="quiet away" icon="close" label=${tr("putAway")} onClick=${() => putAway(true)} />`}
      <p>${tr("setupAbout")}</p>
      <${There} config=${config} troubled=${troubled} />
      <ul>
        ${noModel &&
        html`<li>
          <b>${t("model")}</b>
          <p>${config.model.kind === "unusable" ? tr("modelUnusable", { model: config.model.label }) : t("extractive")}</p>
          ${operator && !able && html`<${Command} command=${MODEL} />`}
          <a href=${docLink("/docs/chat")} target="_blank">${t("readDocs")}</a>
        </li>`}
        ${search.problem &&
        !serious.length && // until they have come
        html`<li>
          <b>${search.problem.message}</b>
          <p>${search.problem.fix}</p>
          ${(operator ? search.problem.commands : []).map((command) => html`<${Command} key=${command} command=${command} />`)}
        </li>`}
        ${serious.map(
          (finding) => html`
            <li key=${finding.code}>
              <b>${finding.what}</b>
              <${ToDo} finding=${finding} data=${data} operator=${operator} />
              ${docLink(finding.guide) && html`<a href=${docLink(finding.guide)} target="_blank">${t("readDocs")}</a>`}
            </li>
          `,
        )}
      </ul>
      ${able && wantsModel && servers.map((server) => html`<${Offer} key=${server.base_url} server=${server} onUse=${use} />`)}
      ${able && !search.available && html`<${Idle} data=${data} onUse=${use} />`}
      ${able && html`<${KeyBox} data=${data} wantsModel=${wantsModel} onUse=${use} />`}
      ${operator
        ? html`<p class="start-foot"><a href=${`${ROOT}/settings`}>${tr("allSettings")}</a></p>`
        : html`<p class="start-foot">${tr("askOperator")}</p>`}
    </section>
  `;
}

/** @param {{finding: Finding, data: SettingsData | null, operator: boolean}} props */
function ToDo({ finding, data, operator }) {
  const here = operator && placeOf(finding, data);
  const { fix, commands, value } = here ? withoutShell(finding) : { ...finding, value: "" };
  const part = here === "searxng_url" ? "searxng" : "model";
  return html`
    <p>${fix || finding.why}</p>
    ${here && html`<p><a href=${`${ROOT}/settings#${part}`}>${tr("setInSettings")}</a> ${value && html`<code>${value}</code>`}</p>`}
    ${(operator ? commands : []).map((command) => html`<${Command} key=${command} command=${command} />`)}
  `;
}

/**
 * Change the settings. Where somebody else has changed the same meanwhile, what is done here is the later word.
 *
 * @param {SettingsData} data
 * @param {Record<string, unknown>} set
 * @param {string[]} unset
 * @returns {Promise<SettingsData>}
 */
async function patched({ version }, set, unset) {
  try {
    return await call("PATCH", "/api/settings", { version, set, unset });
  } catch (error) {
    if (!refusedWith(error, 409)) throw error;
    const fresh = await call("GET", "/api/settings");
    return call("PATCH", "/api/settings", { version: fresh.version, set, unset });
  }
}

/** What works already. @param {{config: Config, troubled: Set<string>}} props */
function There({ config, troubled }) {
  const { available, engine } = config.search;
  const model = hasNoModel(config) || troubled.has("model") ? "" : config.model.label;
  /** @param {string} name @param {string | undefined} value @param {string} [doubt] what is said where it may not work */
  const line = (name, value, doubt) =>
    value &&
    html`<div>
      <span class=${doubt ? "" : "tick"} aria-hidden="true">${doubt ? "·" : "✓"}</span>
      <span>${name}${tr("colon")}${doubt || value}</span>
    </div>`;
  return html`
    <div class="there">
      ${line(t("model"), model)}
      ${line(t("engine"), available && engine && !troubled.has(engine.name) ? engine.label : "", engine ? doubtOf(engine) : "")}
    </div>
  `;
}

/** @param {NonNullable<Config["search"]["engine"]>} engine @returns {string} why it may not work; blank where nothing says so */
function doubtOf({ label, untried, failed }) {
  if (failed) return tr("engineFailed", { engine: label, why: failed.message });
  return untried ? tr("untried", { engine: label }) : "";
}

/**
 * A model server that runs on this machine.
 *
 * @param {{server: FoundServer, onUse: (set: Record<string, unknown>, what: string, unset?: string[]) => Promise<void>}} props
 */
function Offer({ server, onUse }) {
  const [model, setModel] = useState(String(server.use.set.model).replace(/^[^:]*:/, ""));
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  const { set, unset = [] } = server.use;
  const provider = String(set.model).split(":")[0];
  const take = async () => {
    setBusy(true);
    setWrong("");
    await onUse({ ...set, model: `${provider}:${model}` }, model, unset).catch((error) => setWrong(messageOf(error)));
    setBusy(false);
  };
  return html`
    <div class="offer">
      <span>${tr("serverRuns", { server: server.label })}</span>
      ${server.models.length > 1 &&
      html`<select
        aria-label=${tr("whichModel")}
        value=${model}
        onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ event) => setModel(event.currentTarget.value)}
      >
        ${server.models.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select>`}
      <button type="button" class="primary" disabled=${busy} onClick=${() => void take()}>${tr("use", { what: model })}</button>
    </div>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
  `;
}

/**
 * Engines that need nothing but to be turned on.
 *
 * @param {{data: SettingsData, onUse: (set: Record<string, unknown>, what: string) => Promise<void>}} props
 */
function Idle({ data, onUse }) {
  const [wrong, setWrong] = useState("");
  // The first of them are the usual choice; the settings have them all.
  const idle = data.engines.filter((engine) => engine.state === "idle" && !engine.takes_part).slice(0, MOST_OFFERED);
  /** @param {EngineEntry} engine */
  const turnOn = ({ name, label }) =>
    onUse({ provider_priority: [...(data.order.value ?? []), name] }, label).catch((error) => setWrong(messageOf(error)));
  if (!idle.length) return null;
  return html`
    <div class="offer">
      ${idle.map(
        (engine) => html`
          <button key=${engine.name} type="button" onClick=${() => void turnOn(engine)}>
            ${tr("turnOnEngine", { engine: engine.label })}
          </button>
        `,
      )}
    </div>
    ${wrong && html`<p class="wrong" role="alert">${wrong}</p>`}
  `;
}

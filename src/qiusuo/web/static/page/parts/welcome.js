/** An empty conversation: what can be asked, and what is still to be set up. */
import { html } from "../html.js";
import { getLanguage, t } from "../i18n.js";
import { NO_CHAT, changeSettings } from "../sessions.js";
import { getState, useStore } from "../store.js";
import { send } from "../turns.js";
import { useEffect, useState } from "../vendor.js";
import { Command } from "./copy.js";

/** @import { Config, Finding } from "../types.js" */

const INSTALL = "pip install 'qiusuo[chat,server]'";

export function Welcome() {
  const config = useStore((state) => state.config);
  const settings = useStore((state) => state.settings);
  const findings = useStore((state) => state.findings);
  const failed = useStore((state) => state.failed);
  const note = useStore((state) => state.note);
  if (failed === NO_CHAT) {
    return html`<div class="welcome">
      <h2>${t("noChat")}</h2>
      <p>${t("noChatAbout")}</p>
      <${Command} command=${INSTALL} />
    </div>`;
  }
  if (failed) {
    return html`<div class="welcome"><h2>${t("cannotStart")}</h2><p>${t("cannotStartAbout")}</p></div>`;
  }
  if (!config) return null;
  const setup = html`<${Setup} findings=${findings} config=${config} />`;
  // Who has yet to begin begins there.
  const first = config.operator && hasNoModel(config);
  const examples = config.examples?.[getLanguage()] ?? [];
  return html`
    <div class="welcome">
      ${note && html`<p class="notice" role="status">${note()}</p>`}
      <h2>${t("welcome")}</h2>
      ${settings.switch === "off" && config.search.available
        ? html`<p>
            ${t("welcomeSearchOff")}${" "}
            <button type="button" class="inline" onClick=${turnSearchOn}>${t("turnOn")}</button>
          </p>`
        : html`<p>${t("welcomeAbout")}</p>`}
      ${first && setup} ${examples.length > 0 &&
      html`
        <h3>${t("examples")}</h3>
        <ul class="examples">
          ${examples.map(
            (text) => html`<li key=${text}><button type="button" onClick=${() => askExample(text)}>${text}</button></li>`,
          )}
        </ul>
      `}
      ${!first && setup}
    </div>
  `;
}

function turnSearchOn() {
  return changeSettings({ search: true }, t("saidOn"));
}

/** An example shows what search is good for; what is typed goes by the switch as it stands. @param {string} text */
function askExample(text) {
  const { live, settings } = getState();
  if (live) return;
  if (settings.switch === "off") void turnSearchOn(); // the question waits until it is saved
  void send(text);
}

/**
 * What may be set up; its card is loaded where there is something.
 *
 * @param {{findings: Finding[], config: Config}} props
 */
function Setup({ findings, config }) {
  const away = useStore((state) => state.away);
  const [Card, setCard] = useState(/** @type {any} */ (null));
  const needed = !away && isIncomplete(config, findings);
  useEffect(() => {
    // Without it the chat works as well.
    if (needed) import("../later/start.js").then((room) => setCard(() => room.StartCard), () => {});
  }, [needed]);
  return needed && Card && html`<${Card} findings=${findings} config=${config} />`;
}

/** @param {Config | null} config @param {Finding[]} findings @returns {boolean} something is still to be set up */
export function isIncomplete(config, findings) {
  return Boolean(config && (hasNoModel(config) || config.search.problem || findings.some(isSerious)));
}

/** @param {Config} config @returns {boolean} */
export function hasNoModel({ model }) {
  return model.kind === "extractive" || model.kind === "unusable";
}

/** @param {Finding} finding @returns {boolean} */
export function isSerious({ level }) {
  return level === "warning" || level === "problem";
}

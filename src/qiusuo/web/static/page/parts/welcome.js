/** An empty conversation: what can be asked, and what is still to be set up. */
import { html } from "../html.js";
import { getLanguage, t } from "../i18n.js";
import { NO_CHAT, changeSettings } from "../sessions.js";
import { getState, useStore } from "../store.js";
import { send } from "../turns.js";
import { searchAlways } from "../wishes.js";
import { Command } from "./copy.js";
import { docLink } from "./notice.js";

/** @import { Finding } from "../types.js" */

const SERIOUS = ["warning", "problem"];
const INSTALL = "pip install 'qiusuo[chat,server]'";
const MODEL = "export QIUSUO_MODEL=ollama:qwen3";

export function Welcome() {
  const config = useStore((state) => state.config);
  const settings = useStore((state) => state.settings);
  const findings = useStore((state) => state.findings);
  const failed = useStore((state) => state.failed);
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
  const examples = config.examples?.[getLanguage()] ?? [];
  return html`
    <div class="welcome">
      <h2>${t("welcome")}</h2>
      ${settings.switch === "off" && config.search.available
        ? html`<p>
            ${t("welcomeSearchOff")}${" "}
            <button type="button" class="inline" onClick=${turnSearchOn}>
              ${t("turnOn")}
            </button>${" "}
            <button type="button" class="inline" onClick=${always}>${t("searchAlways")}</button>
          </p>`
        : html`<p>${t("welcomeAbout")}</p>`}
      ${examples.length > 0 &&
      html`
        <h3>${t("examples")}</h3>
        <ul class="examples">
          ${examples.map(
            (text) => html`<li key=${text}><button type="button" onClick=${() => askExample(text)}>${text}</button></li>`,
          )}
        </ul>
      `}
      <${Setup} findings=${findings} config=${config} />
    </div>
  `;
}

function always() {
  searchAlways(true);
  return turnSearchOn();
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

/** @param {{findings: Finding[], config: import("../types.js").Config}} props */
function Setup({ findings, config }) {
  const problem = config.search.problem;
  const serious = findings.filter((finding) => SERIOUS.includes(finding.level));
  const missing = config.model.kind === "extractive";
  if (!problem && !serious.length && !missing) return null;
  return html`
    <section class="setup">
      <h3>${t("setup")}</h3>
      <p>${t("setupAbout")}</p>
      <ul>
        ${missing &&
        html`<li>
          <b>${t("model")}</b>
          <p>${t("extractive")}</p>
          ${config.operator && html`<${Command} command=${MODEL} />`}
          <a href=${docLink("/docs/chat")} target="_blank">${t("readDocs")}</a>
        </li>`}
        ${problem &&
        !serious.length && // until they have come
        html`<li>
          <b>${problem.message}</b>
          <p>${problem.fix}</p>
          ${(config.operator ? problem.commands : []).map((command) => html`<${Command} key=${command} command=${command} />`)}
        </li>`}
        ${serious.map(
          (finding) => html`
            <li key=${finding.code}>
              <b>${finding.what}</b>
              <p>${finding.fix || finding.why}</p>
              ${(config.operator ? finding.commands : []).map((command) => html`<${Command} key=${command} command=${command} />`)}
              ${docLink(finding.guide) && html`<a href=${docLink(finding.guide)} target="_blank">${t("readDocs")}</a>`}
            </li>
          `,
        )}
      </ul>
    </section>
  `;
}

/** An empty conversation: what can be asked, and what is still to be set up. */
import { html } from "../html.js";
import { getLanguage, t } from "../i18n.js";
import { useStore } from "../store.js";
import { send } from "../turns.js";
import { CopyButton } from "./copybutton.js";
import { docLink } from "./notice.js";

/** @import { Finding } from "../types.js" */

export function Welcome() {
  const config = useStore((state) => state.config);
  const settings = useStore((state) => state.settings);
  const findings = useStore((state) => state.findings);
  const failed = useStore((state) => state.failed);
  if (failed) {
    return html`<div class="welcome"><h2>${t("cannotStart")}</h2><p>${t("cannotStartAbout")}</p></div>`;
  }
  if (!config) return null;
  const examples = config.examples?.[getLanguage()] ?? [];
  return html`
    <div class="welcome">
      <h2>${t("welcome")}</h2>
      <p>${settings.switch === "off" ? t("welcomeSearchOff") : t("welcomeAbout")}</p>
      ${examples.length > 0 &&
      html`
        <h3>${t("examples")}</h3>
        <ul class="examples">
          ${examples.map(
            (text) => html`<li key=${text}><button type="button" onClick=${() => void send(text)}>${text}</button></li>`,
          )}
        </ul>
      `}
      <${Setup} findings=${findings} config=${config} />
    </div>
  `;
}

/** @param {{findings: Finding[], config: import("../types.js").Config}} props */
function Setup({ findings, config }) {
  const problem = config.search.problem;
  const serious = findings.filter((finding) => finding.level !== "ok" && finding.level !== "info");
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
          <p class="command"><code>QIUSUO_MODEL=openai:gpt-5-mini</code><${CopyButton} text="QIUSUO_MODEL=" /></p>
          <a href=${docLink("/docs/configuration")} target="_blank">${t("readDocs")}</a>
        </li>`}
        ${problem && !serious.length && html`<li><b>${problem.message}</b><p>${problem.fix}</p></li>`}
        ${serious.map(
          (finding) => html`
            <li key=${finding.code}>
              <b>${finding.what}</b>
              <p>${finding.fix || finding.why}</p>
              ${finding.commands.map(
                (command) =>
                  html`<p key=${command} class="command"><code>${command}</code><${CopyButton} text=${command} /></p>`,
              )}
              ${docLink(finding.guide) && html`<a href=${docLink(finding.guide)} target="_blank">${t("readDocs")}</a>`}
            </li>
          `,
        )}
      </ul>
    </section>
  `;
}

/** What went wrong, what to do about it; the conversation goes on beside it. */
import { ROOT } from "../browser.js";
import { html } from "../html.js";
import { getLanguage, ownNotice, t } from "../i18n.js";
import { useStore } from "../store.js";
import { Command } from "./copy.js";

/** @import { Notice, Told } from "../types.js" */

const GUIDE = "/docs/troubleshooting";
const ROLES = { error: "alert", warning: "status" };

/** @param {string} doc @returns {string} the local page, in the reader's language; blank for anything else */
export function docLink(doc) {
  const found = /^\/?docs\/([a-z-]+?)(?:\.zh-CN)?(?:\.md)?(#[^\s]*)?$/.exec(doc);
  return found ? `${ROOT}/docs/${found[1]}?lang=${getLanguage()}${found[2] ?? ""}` : "";
}

/** @param {string} doc @returns {string} */
function docTitle(doc) {
  if (doc.includes("deployment")) return t("docDeployment");
  if (doc.includes("troubleshooting")) return t("docTroubleshooting");
  return doc.includes("configuration") ? t("docConfiguration") : t("readDocs");
}

/** What an operator can do about a page on a port that is not read. @param {{fact: Told | null | undefined}} props */
export function Opening({ fact }) {
  const operator = useStore((state) => state.config?.operator ?? false);
  const place = fact?.code === "page_read.port" && fact.values?.place;
  return operator && place ? html`<span class="told">${t("openPlace", { place })}</span>` : null;
}

/** @param {{notice: Notice, fresh?: boolean}} props */
export function NoticeView({ notice, fresh = false }) {
  const own = ownNotice(notice.code);
  const title = own?.title || notice.title || notice.code;
  const [what, todo] = [own?.message || notice.message, own?.fix || notice.fix];
  const level = notice.level === "error" || notice.level === "warning" ? notice.level : "info";
  const docs = [...new Set([notice.doc, level === "info" ? "" : GUIDE])];
  // What the server said where the page has words of its own.
  const details = [notice.message, notice.fix].filter((text) => text && text !== what && text !== todo);
  const operator = useStore((state) => state.config?.operator ?? false);
  const commands = operator ? notice.commands : [];
  const rest = html`
    ${notice.retryAfter != null && html`<p>${t("retryAfter", { count: Math.ceil(notice.retryAfter) })}</p>`}
    <${Opening} fact=${notice.reason} />
    ${commands.map((command) => html`<${Command} key=${command} command=${command} />`)}
  `;
  const links = html`
    <p class="doc-links">
      ${docs.filter(docLink).map((doc) => html`<a key=${doc} href=${docLink(doc)} target="_blank">${docTitle(doc)}</a>`)}
    </p>
  `;
  const told = details.map((text) => html`<p class="told">${text}</p>`);
  // What is only good to know takes one line.
  if (level === "info") {
    return html`
      <details class="notice info">
        <summary><b>${title}</b> · ${what}</summary>
        <p>${todo}</p>
        ${rest} ${told} ${links}
      </details>
    `;
  }
  // There is an answer beside it, which it must not push away.
  if (level === "warning") {
    return html`
      <div class="notice warning" role=${fresh ? ROLES.warning : undefined}>
        <details>
          <summary class="notice-title"><span aria-hidden="true">⚠️</span> ${title}</summary>
          <p>${what}</p>
          ${todo && html`<p>${todo}</p>`}
          ${rest} ${told} ${links}
        </details>
      </div>
    `;
  }
  return html`
    <div class="notice error" role=${fresh ? ROLES.error : undefined}>
      <p class="notice-title"><span aria-hidden="true">⚠️</span> ${title}</p>
      <p>${what}</p>
      ${todo && html`<p>${todo}</p>`}
      ${rest} ${told.length > 0 && html`<details><summary>${t("details")}</summary>${told}</details>`} ${links}
    </div>
  `;
}

/** What went wrong, what to do about it; the conversation goes on beside it. */
import { html } from "../html.js";
import { getLanguage, t } from "../i18n.js";
import { NOTICES } from "../words/notices.js";
import { CopyButton } from "./copybutton.js";

/** @import { Notice } from "../types.js" */

const ROLES = { error: "alert", warning: "status", info: "note" };

/** @param {string} doc @returns {string} the local page, in the reader's language; blank for anything else */
export function docLink(doc) {
  const found = /^\/?docs\/([a-z-]+?)(?:\.zh-CN)?(?:\.md)?(#[^\s]*)?$/.exec(doc);
  return found ? `/docs/${found[1]}?lang=${getLanguage()}${found[2] ?? ""}` : "";
}

/** @param {{notice: Notice, fresh?: boolean}} props */
export function NoticeView({ notice, fresh = false }) {
  const wording = NOTICES[notice.code];
  const [title, what, todo] = wording?.[getLanguage()] ?? [notice.title || notice.code, notice.message, notice.fix];
  const commands = notice.commands?.length ? notice.commands : (wording?.commands ?? []);
  const doc = docLink(notice.doc || wording?.doc || (notice.level === "info" ? "" : "/docs/troubleshooting"));
  const level = notice.level === "error" || notice.level === "warning" ? notice.level : "info";
  const details = [notice.message, notice.fix].filter((text) => text && text !== what && text !== todo);
  return html`
    <div class=${`notice ${level}`} role=${fresh ? ROLES[level] : undefined}>
      <p class="notice-title"><span aria-hidden="true">${level === "info" ? "ℹ️" : "⚠️"}</span> ${title}</p>
      <p>${what} ${todo}</p>
      ${notice.retryAfter != null && html`<p>${t("retryAfter", { count: Math.ceil(notice.retryAfter) })}</p>`}
      ${commands.map(
        (command) => html`<p key=${command} class="command"><code>${command}</code><${CopyButton} text=${command} /></p>`,
      )}
      ${details.length > 0 &&
      html`<details><summary>${t("details")}</summary>${details.map((text) => html`<p class="told">${text}</p>`)}</details>`}
      ${doc && html`<p><a href=${doc} target="_blank">${t("readDocs")}</a></p>`}
    </div>
  `;
}

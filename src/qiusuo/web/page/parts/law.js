/** An article of law: its words, whether it is in force, and since when. */
import { html } from "../html.js";
import { formatDay, t } from "../i18n.js";
import { isWeb } from "../markdown.js";

/** @import { Law, Source } from "../types.js" */

/** @param {string} status @returns {string} how the badge looks */
function tone(status) {
  if (/尚未|未生效|pending|not yet|future/i.test(status)) return "pending";
  if (/废止|失效|repealed|expired|abolished|superseded|已被/i.test(status)) return "gone";
  return /修改|修订|amended/i.test(status) ? "pending" : "force";
}

/** @param {{source: Source, law: Law}} props */
export function LawCard({ source, law }) {
  const title = [law.lawName, law.articleNumber].filter(Boolean).join(" ");
  return html`
    <li class="card law">
      <p class="card-title">
        <span class="number">${source.number}</span>
        ${isWeb(source.url)
          ? html`<a href=${source.url} target="_blank" rel="noopener noreferrer nofollow">${title}</a>`
          : html`<span>${title}</span>`}
        ${law.status && html`<span class=${`badge ${tone(law.status)}`}>${law.status}</span>`}
      </p>
      <p class="card-from">
        ${[
          law.chapter,
          law.version && `${t("lawVersion")} ${law.version}`,
          law.effectiveDate && `${t("lawEffective")} ${formatDay(law.effectiveDate)}`,
          source.domain,
        ]
          .filter(Boolean)
          .join(" · ")}
      </p>
      <blockquote class="law-text" tabindex="0">${law.content || source.snippet}</blockquote>
    </li>
  `;
}

/** What was found, as cards: title, domain, a few words; of a law its text. By round where there were several. */
import { html, memo } from "../html.js";
import { formatDay, listed, t } from "../i18n.js";
import { isWeb } from "../markdown.js";

/** @import { Law, Round, Source } from "../types.js" */

const FEW = 6;

/** @param {{sources: Source[], rounds: Round[], grouped: boolean, open: boolean}} props */
export function Sources({ sources, rounds, grouped, open }) {
  if (!sources.length) return null;
  const groups = grouped ? byRound(sources, rounds) : [{ title: "", sources }];
  return html`
    <details class="sources" open=${open || sources.length <= FEW}>
      <summary><h3>${t("sourcesCount", { count: sources.length })}</h3></summary>
      ${groups.map(
        (group) => html`
          <div key=${group.title} class="source-group">
            ${group.title && html`<h4>${group.title}</h4>`}
            <ul class="cards">
              ${group.sources.map((source) => html`<${SourceCard} key=${source.number} source=${source} />`)}
            </ul>
          </div>
        `,
      )}
    </details>
  `;
}

/** @param {Source[]} sources @param {Round[]} rounds */
function byRound(sources, rounds) {
  const numbers = [...new Set(sources.map((source) => source.round))].sort((a, b) => a - b);
  return numbers.map((number) => {
    const query = rounds.find((round) => round.number === number)?.query ?? "";
    const title = listed(t("round", { number }), query);
    return { title, sources: sources.filter((source) => source.round === number) };
  });
}

/** Its title leads to it, where that is a place on the web. @param {{source: Source, title?: string}} props */
export function SourceLink({ source, title = source.title || source.domain || source.url }) {
  if (!isWeb(source.url)) return html`<span>${title}</span>`;
  return html`<a href=${source.url} target="_blank" rel="noopener noreferrer nofollow">${title}</a>`;
}

const SourceCard = memo(
  /** @param {{source: Source}} props */
  ({ source }) => {
    if (source.law) return html`<${LawCard} source=${source} law=${source.law} />`;
    const safe = isWeb(source.url);
    return html`
      <li class=${safe ? "card" : "card unsafe"}>
        <p class="card-title">
          <span class="number">${source.number}</span>
          <${SourceLink} source=${source} />
        </p>
        <p class="card-from">
          ${safe ? source.domain : t("unsafe")}${source.publishedAt &&
          html` · <span class="whole">${formatDay(source.publishedAt)}</span>`}${source.pageRead
            ? html` <span class="chip">${t("pageWasRead")}</span>`
            : ""}
        </p>
        <p class="card-words">${source.snippet}</p>
      </li>
    `;
  },
);

/** @param {string} status @returns {string} how the badge looks */
function tone(status) {
  if (/尚未|未生效|pending|not yet|future/i.test(status)) return "pending";
  if (/废止|失效|repealed|expired|abolished|superseded|已被/i.test(status)) return "gone";
  return /修改|修订|amended/i.test(status) ? "pending" : "force";
}

/** An article of law: its words, whether it is in force, and since when. @param {{source: Source, law: Law}} props */
function LawCard({ source, law }) {
  const title = [law.lawName, law.articleNumber].filter(Boolean).join(" ");
  const published = law.dateBasis === "published";
  return html`
    <li class="card law">
      <p class="card-title">
        <span class="number">${source.number}</span>
        <${SourceLink} source=${source} title=${title} />
        ${law.status && html`<span class=${`badge ${tone(law.status)}`}>${law.status}</span>`}
      </p>
      <p class="card-from">
        ${listed(
          law.chapter,
          law.version && `${t("lawVersion")} ${law.version}`,
          law.effectiveDate && `${t(published ? "lawPublished" : "lawEffective")} ${formatDay(law.effectiveDate)}`,
          source.domain,
        )}
      </p>
      <blockquote class="law-text" tabindex="0">${law.content || source.snippet}</blockquote>
      ${(law.notes ?? []).map((remark) => html`<p key=${remark} class="law-remark">${remark}</p>`)}
    </li>
  `;
}

/** What was found, as cards: title, domain, a few words. By round where there were several. */
import { html, memo } from "../html.js";
import { formatDay, t } from "../i18n.js";
import { isWeb } from "../markdown.js";
import { LawCard } from "./law.js";

/** @import { Round, Source } from "../types.js" */

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
    const title = [t("round", { number }), query].filter(Boolean).join(" · ");
    return { title, sources: sources.filter((source) => source.round === number) };
  });
}

const SourceCard = memo(
  /** @param {{source: Source}} props */
  ({ source }) => {
    if (source.law) return html`<${LawCard} source=${source} law=${source.law} />`;
    const safe = isWeb(source.url);
    const title = source.title || source.domain || source.url;
    return html`
      <li class=${safe ? "card" : "card unsafe"}>
        <p class="card-title">
          <span class="number">${source.number}</span>
          ${safe
            ? html`<a href=${source.url} target="_blank" rel="noopener noreferrer nofollow">${title}</a>`
            : html`<span>${title}</span>`}
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

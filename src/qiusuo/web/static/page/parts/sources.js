/** What was found, as cards: title, domain, a few words; of a law its text. By round where there were several. */
import { html, memo } from "../html.js";
import { getLanguage, formatDay, listed, t } from "../i18n.js";
import { isWeb } from "../markdown.js";
import { getState } from "../store.js";
import { Compare } from "./compare.js";

/** @import { Card, Law, Round, Source } from "../types.js" */

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
            ${byOrigin(group.sources).map(
              (part) => html`
                ${part.title && html`<${group.title ? "h5" : "h4"}>${part.title}<//>`}
                <ul key=${part.title} class="cards">
                  ${part.sources.map((source) => html`<${SourceCard} key=${source.number} source=${source} />`)}
                </ul>
              `,
            )}
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

/**
 * What is known here and what the web says are told apart where there is both.
 *
 * @param {Source[]} sources
 * @returns {{title: string, sources: Source[]}[]}
 */
function byOrigin(sources) {
  const known = sources.filter((source) => source.card || source.law);
  const found = sources.filter((source) => !known.includes(source));
  if (!known.length || !found.length) return [{ title: "", sources }];
  const names = new Set(known.flatMap((source) => source.engines ?? []));
  const engine = getState().config?.engines.find((each) => names.has(each.name));
  return [
    { title: engine?.label || t("fromHere"), sources: known },
    { title: t("fromWeb"), sources: found },
  ];
}

/** Its title leads to it, where that is a place on the web. @param {{source: Source, title?: string}} props */
export function SourceLink({ source, title = source.title || source.domain || source.url }) {
  if (!isWeb(source.url)) return html`<span>${title}</span>`;
  return html`<a href=${source.url} target="_blank" rel="noopener noreferrer nofollow">${title}</a>`;
}

const SourceCard = memo(
  /** @param {{source: Source}} props */
  ({ source }) => {
    const card = source.card ?? (source.law ? cardOf(source.law) : null);
    if (card) return html`<${DetailCard} source=${source} card=${card} />`;
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
            : ""}${source.weak ? html` <span class="chip weak">${t("weakMatch")}</span>` : ""}
        </p>
        ${source.passages?.length
          ? source.passages.map((passage, at) => html`<blockquote key=${at} class="card-passage">${passage}</blockquote>`)
          : html`<p class="card-words">${source.snippet}</p>`}
      </li>
    `;
  },
);

/** @type {Record<string, Card["tone"]>} */
const TONES = { 已修改: "pending", 尚未生效: "pending", 已废止: "gone" };

/** @param {Law} law @returns {Card} the same as a card */
function cardOf(law) {
  const day = law.dateBasis === "published" ? t("lawPublished") : t("lawEffective");
  const facts = [
    { value: law.chapter, label: "", day: false },
    { value: law.version, label: t("lawVersion"), day: false },
    { value: law.effectiveDate, label: day, day: true },
  ];
  return {
    title: [law.lawName, law.articleNumber].filter(Boolean).join(" "),
    text: law.content ?? "",
    badge: law.status ?? "",
    tone: TONES[law.status ?? ""] ?? "force",
    facts: facts.flatMap((fact) =>
      fact.value ? [{ value: fact.value, labels: { [getLanguage()]: fact.label }, day: fact.day }] : [],
    ),
    notes: law.notes ?? [],
  };
}

/** A source of which more is known: its words, how it stands, since when. @param {{source: Source, card: Card}} props */
function DetailCard({ source, card }) {
  const facts = card.facts.map(({ value, labels, day }) => {
    const [label, shown] = [labels[getLanguage()] ?? "", day ? formatDay(value) : value];
    return label.includes("{value}") ? label.replace("{value}", shown) : [label, shown].filter(Boolean).join(" ");
  });
  return html`
    <li class="card whole-text">
      <p class="card-title">
        <span class="number">${source.number}</span>
        <${SourceLink} source=${source} title=${card.title} />
        ${card.badge && html`<span class=${`badge ${card.tone}`}>${card.badge}</span>`}
      </p>
      <p class="card-from">
        ${card.mark ? html`<span class="chip weak">${card.mark}</span> ` : ""}${listed(...facts, source.domain)}
      </p>
      <blockquote class="card-text" tabindex="0">${card.text || source.snippet}</blockquote>
      ${card.notes.map((remark) => html`<p key=${remark} class="card-remark">${remark}</p>`)}
      ${card.compare && html`<${Compare} path=${card.compare} about=${card.title} />`}
    </li>
  `;
}

/** What was found, as a strip of cards above the answer. It has one height, so that cards that come later move nothing. */
import { html, memo } from "../html.js";
import { formatDay, t } from "../i18n.js";
import { isWeb } from "../markdown.js";
import { change, getState } from "../store.js";
import { useState } from "../vendor.js";

/** @import { Source, Turn } from "../types.js" */

/** So many colours are told apart; each is readable in light and dark. */
const HUES = 12;

/** @param {{turn: Turn}} props */
export function Sources({ turn }) {
  const searching = turn.rounds.some((round) => round.state === "running" && round.kind !== "fetch_page");
  // Room is kept before there is a text that could be moved.
  const awaited = turn.state === "running" && searching && !turn.answer;
  return html`<${Strip} turn=${turn.id} sources=${turn.sources} cited=${turn.cited} awaited=${awaited} />`;
}

const Strip = memo(
  /** @param {{turn: string, sources: Source[], cited: number[], awaited: boolean}} props */
  ({ turn, sources: found, cited, awaited }) => {
    const [at, setAt] = useState(0);
    const sources = [...found].sort((one, other) => one.number - other.number);
    if (!sources.length) return awaited && html`<div class="sources" aria-hidden="true"></div>`;
    /** Tab reaches one card; the arrows go on from there. @param {KeyboardEvent & {currentTarget: HTMLElement}} event */
    const keys = (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: sources.length - 1 }[event.key];
      if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      event.currentTarget.querySelectorAll("button")[to]?.focus();
    };
    return html`
      <div class="sources" role="group" aria-label=${t("sourcesCount", { count: sources.length })}>
        <ul onKeyDown=${keys}>
          ${sources.map(
            (source, index) => html`
              <li key=${source.number}>
                <button
                  type="button"
                  class=${isWeb(source.url) || source.card || source.law ? "card" : "card unsafe"}
                  data-number=${source.number}
                  aria-haspopup="dialog"
                  tabindex=${index === Math.min(at, sources.length - 1) ? 0 : -1}
                  onFocus=${() => setAt(index)}
                  onClick=${() => change({ beside: { turn, number: source.number } })}
                >
                  <span class="card-from"><span class="number">${source.number}</span><${Tile} source=${source} /><span>${siteOf(source)}</span></span>
                  <span class="card-title">${titleOf(source)}</span>
                  <span class="card-marks">
                    ${source.publishedAt && html`<span>${formatDay(source.publishedAt)}</span>`}
                    ${source.card?.badge && html`<span class=${`badge ${source.card.tone}`}>${source.card.badge}</span>`}
                    ${cited.includes(source.number) && html`<span class="chip used">${t("used")}</span>`}
                  </span>
                </button>
              </li>
            `,
          )}
        </ul>
      </div>
    `;
  },
);

/** @param {Source} source @returns {string} */
export function titleOf(source) {
  return source.card?.title || source.title || source.domain || source.url;
}

/** What is known here is told apart from what the web says. @param {Source} source @returns {string} */
export function siteOf(source) {
  if (source.card || source.law) {
    const engine = getState().config?.engines.find((each) => source.engines?.includes(each.name));
    return engine?.label || source.domain;
  }
  return isWeb(source.url) ? source.domain.replace(/^www\./, "") : t("unsafe");
}

/** The first letter of a site in a colour of its own: nobody else is asked for a picture. @param {{source: Source}} props */
export function Tile({ source }) {
  const name = (source.domain || titleOf(source)).replace(/^www\./, "");
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 65521;
  return html`<span class="tile" style=${`--hue: ${((hash % HUES) * 360) / HUES}`} aria-hidden="true">${[...name][0]?.toUpperCase()}</span>`;
}

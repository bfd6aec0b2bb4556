/** One line for the pages that were read before the answer, and on demand what became of each. */
import { html, memo } from "../html.js";
import { formatSeconds, listed, t } from "../i18n.js";
import { useState } from "../vendor.js";
import { Icon } from "./icons.js";
import { Opening } from "./notice.js";

/** @import { PageRead, Reading, TurnState } from "../types.js" */

/** @param {{readings: Reading[], ended: TurnState}} props */
export function Readings({ readings, ended }) {
  if (!readings.length) return null;
  return html`
    <ol class="rounds">
      ${readings.map((reading) => html`<${ReadingRow} key=${reading.number} reading=${reading} ended=${ended} />`)}
    </ol>
  `;
}

const ReadingRow = memo(
  /** @param {{reading: Reading, ended: TurnState}} props */
  ({ reading, ended }) => {
    const [open, setOpen] = useState(false);
    const running = !reading.done && ended === "running";
    const state = running ? "running" : look(reading);
    return html`
      <li class=${`round ${state}`}>
        <div class="round-line">
          <span class="dot" aria-hidden="true"></span>
          <span class="round-what">${running ? t("readingPages", { count: reading.pages.length }) : outcome(reading)}</span>
          <button type="button" class="quiet why" aria-label=${t("whichPages")} aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>
            <span class="why-words">${t("whichPages")}</span><${Icon} name="info" />
          </button>
        </div>
        ${open &&
        html`<div class="receipt">
          <ul class="pages">${reading.pages.map((page) => html`<${PageRow} key=${page.number} page=${page} />`)}</ul>
        </div>`}
      </li>
    `;
  },
);

/** @param {Reading} reading @returns {"done" | "partly" | "failed"} */
function look({ pages }) {
  const failed = pages.filter((page) => page.state === "failed" || page.state === "reading").length;
  return failed === 0 ? "done" : failed < pages.length ? "partly" : "failed";
}

/** @param {Reading} reading @returns {string} */
function outcome({ pages, done, ms }) {
  if (!done) return t("stopped");
  /** @param {PageRead["state"][]} states */
  const count = (...states) => pages.filter((page) => states.includes(page.state)).length;
  const failed = count("failed");
  return listed(
    t("pagesRead", { count: count("used", "unused") }),
    t("pagesUsed", { count: count("used") }),
    failed > 0 && t("pagesFailed", { count: failed }),
    t("seconds", { count: formatSeconds(ms) }),
  );
}

/** @param {{page: PageRead}} props */
function PageRow({ page }) {
  const words = { reading: t("stopped"), used: t("pageUsed"), unused: t("pageUnused"), failed: t("pageReadFailed") };
  return html`
    <li>
      <b>[${page.number}] ${page.title || page.domain}</b> <span class="ms">${page.domain}</span> <span class=${page.state}>${words[page.state]}</span>
      ${page.cached && html` <span class="ms">${t("cached")}</span>`}
      ${page.reason && html`<span class="told">${page.reason}</span>`}
      <${Opening} fact=${page} />
    </li>
  `;
}

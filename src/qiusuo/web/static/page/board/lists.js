/** The tables of a report: engines and how they stand, outcomes, models, people, words. */
import { html } from "../html.js";
import { tOutcome } from "../i18n.js";
import { Card, DataTable } from "./tables.js";
import { count, duration, ending, modelNamed, money, named, share, standing, tr, wait } from "./telling.js";

/** @typedef {(name: string, title: string) => any} Sheet */

const SOURCES = /** @type {const} */ ({ vendor: "priceVendor", others: "priceOthers", settings: "priceSettings" });

/** @param {any} price @returns {string} what one search costs, and who says so */
function priced(price) {
  const source = tr(SOURCES[/** @type {keyof typeof SOURCES} */ (price.source)]);
  const amount = money(price.amount, price.currency);
  return tr("priceEach", { amount, source: price.asOf ? tr("priceAsOf", { source, day: price.asOf }) : source });
}

/** @param {any} row @returns {any} an engine's name and, where it does not simply work, how it stands */
function engine(row) {
  const { state } = row;
  return html`
    <span class="engine">
      ${named(row.label)}
      ${state && html`<span class=${`state ${state.state}`}>${standing(state.state)}</span>`}
    </span>
    ${state?.state === "resting" && html`<small class="hint">${tr("restsFor", { time: wait(state.retryAfter ?? 0) })} ${state.reason}</small>`}
  `;
}

/** @param {any} report @returns {any[]} the engines that were used, and those that could be */
function engines(report) {
  const states = new Map((report.states ?? []).map((/** @type {any} */ state) => [state.name, state]));
  const used = report.engines.map((/** @type {any} */ row) => ({ ...row, state: states.get(row.name) }));
  const seen = new Set(used.map((/** @type {any} */ row) => row.name));
  const idle = [...states.values()].filter((state) => !seen.has(state.name));
  return [...used, ...idle.map((state) => ({ name: state.name, label: state.label, searches: 0, state }))];
}

/** @param {any} row @returns {string} */
function quota(row) {
  const { state } = row;
  return state?.quota === null || state?.quota === undefined ? "–" : `${count(state.quotaUsed ?? 0)} / ${count(state.quota)}`;
}

const ANSWERED = ["ok", "empty"];

/** @param {any} row @returns {any} how many requests failed, and how */
function failures(row) {
  if (!row.requests) return "–";
  const how = Object.entries(row.outcomes).filter(([outcome]) => !ANSWERED.includes(outcome));
  return html`
    ${count(row.requestsFailed)} (${share(row.requestsFailed, row.requests)})
    ${how.map(([outcome, n]) => html`<small key=${outcome} class="hint">${tOutcome(outcome)} ${count(/** @type {number} */ (n))}</small>`)}
  `;
}

/** @param {{report: any, own: boolean, sheet: Sheet}} props */
export function EngineTable({ report, own, sheet }) {
  const title = tr("engines");
  const common = [
    { title: tr("engine"), cell: engine },
    { title: tr("searches"), cell: (/** @type {any} */ row) => count(row.searches) },
    { title: tr("fromCache"), cell: (/** @type {any} */ row) => count(row.cached) },
    { title: tr("saved"), cell: (/** @type {any} */ row) => count(row.saved) },
  ];
  const times = [
    { title: tr("median"), cell: (/** @type {any} */ row) => duration(row.median) },
    { title: tr("p95"), cell: (/** @type {any} */ row) => duration(row.p95) },
  ];
  const more = [
    { title: tr("requests"), cell: (/** @type {any} */ row) => count(row.requests) },
    { title: tr("failed"), cell: failures },
    { title: tr("skipped"), cell: (/** @type {any} */ row) => count(row.skipped) },
    ...times,
    { title: tr("quota"), cell: quota },
    { title: tr("cost"), cell: (/** @type {any} */ row) => (row.price ? html`${money(row.cost, row.price.currency)}<small class="hint price">${priced(row.price)}</small>` : "–") },
  ];
  const columns = own ? [...common, ...times] : [...common, ...more];
  return html`
    <${Card} title=${title} about=${own ? "" : tr("enginesAbout")} sheet=${sheet("engines", title)}>
      <${DataTable} name=${title} wide=${!own} columns=${columns} rows=${engines(report)} keyOf=${(/** @type {any} */ row) => row.name} />
    <//>
  `;
}

/** @param {{report: any, sheet: Sheet}} props */
export function OutcomeTable({ report, sheet }) {
  const title = tr("outcomes");
  const columns = [
    { title: tr("outcome"), cell: (/** @type {any} */ row) => ending(row.outcome) },
    { title: tr("searches"), cell: (/** @type {any} */ row) => count(row.searches) },
    { title: tr("share"), cell: (/** @type {any} */ row) => share(row.searches, report.total.searches) },
  ];
  return html`
    <${Card} title=${title} sheet=${sheet("outcomes", title)}>
      <${DataTable} name=${title} columns=${columns} rows=${report.outcomes} keyOf=${(/** @type {any} */ row) => row.outcome} />
    <//>
  `;
}

/** @param {{report: any, sheet: Sheet}} props */
export function ModelTable({ report, sheet }) {
  const title = tr("models");
  const columns = [
    { title: tr("model"), cell: (/** @type {any} */ row) => modelNamed(row.name) },
    { title: tr("answers"), cell: (/** @type {any} */ row) => count(row.answers) },
    { title: tr("failed"), cell: (/** @type {any} */ row) => count(row.answersFailed) },
    { title: tr("tokensIn"), cell: (/** @type {any} */ row) => count(row.tokensIn) },
    { title: tr("tokensOut"), cell: (/** @type {any} */ row) => count(row.tokensOut) },
    { title: tr("median"), cell: (/** @type {any} */ row) => duration(row.median) },
    { title: tr("p95"), cell: (/** @type {any} */ row) => duration(row.p95) },
  ];
  return html`
    <${Card} title=${title} sheet=${sheet("models", title)}>
      <${DataTable} name=${title} columns=${columns} rows=${report.models} keyOf=${(/** @type {any} */ row) => row.name} />
    <//>
  `;
}

/** @param {{report: any, sheet: Sheet}} props */
export function PeopleTable({ report, sheet }) {
  const title = tr("people");
  const columns = [
    { title: tr("person"), cell: (/** @type {any} */ row) => named(row.name) },
    { title: tr("searches"), cell: (/** @type {any} */ row) => count(row.searches) },
    { title: tr("fromCache"), cell: (/** @type {any} */ row) => count(row.cached) },
    { title: tr("failed"), cell: (/** @type {any} */ row) => count(row.failed) },
    { title: tr("answers"), cell: (/** @type {any} */ row) => count(row.answers) },
    { title: tr("tokensIn"), cell: (/** @type {any} */ row) => count(row.tokensIn) },
    { title: tr("tokensOut"), cell: (/** @type {any} */ row) => count(row.tokensOut) },
  ];
  return html`
    <${Card} title=${title} sheet=${sheet("people", title)}>
      <${DataTable} name=${title} columns=${columns} rows=${report.people} keyOf=${(/** @type {any} */ row) => row.name} />
    <//>
  `;
}

const KINDS = /** @type {const} */ ({ slow: "slow", failing: "foundNothing" });

/** @param {{report: any, sheet: Sheet}} props */
export function QueryTable({ report, sheet }) {
  const title = tr("queries");
  if (!report.queriesKept) return html`<${Card} title=${title} about=${tr("queriesOff")} sheet=${null} />`;
  const columns = [
    { title: tr("query"), cell: (/** @type {any} */ row) => row.query },
    { title: tr("why"), cell: (/** @type {any} */ row) => tr(KINDS[/** @type {keyof typeof KINDS} */ (row.kind)]), words: true },
    { title: tr("times"), cell: (/** @type {any} */ row) => count(row.count) },
    { title: tr("longest"), cell: (/** @type {any} */ row) => duration(row.ms) },
    { title: tr("outcome"), cell: (/** @type {any} */ row) => ending(row.outcome), words: true },
  ];
  return html`
    <${Card} title=${title} sheet=${sheet("queries", title)}>
      <${DataTable} name=${title} columns=${columns} rows=${report.queries} keyOf=${(/** @type {any} */ row) => `${row.kind} ${row.query}`} />
    <//>
  `;
}

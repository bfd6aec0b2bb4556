/** Everything that a report says: totals, plots, tables. */
import { html } from "../html.js";
import { useMemo, useState } from "../vendor.js";
import { Chart } from "./chart.js";
import { EngineTable, ModelTable, OutcomeTable, PeopleTable, QueryTable } from "./lists.js";
import { Card, Folded, SheetButton } from "./tables.js";
import { brief, count, duration, ending, modelNamed, moment, money, named, share, tr } from "./telling.js";

const MOST = 5;
const ORDER = ["ok", "cached", "stale", "empty", "failed", "error"];

/** @param {{report: any, path: string, query: string, own: boolean}} props */
export function Figures({ report, path, query, own }) {
  /** @param {string} name @param {string} title */
  const sheet = (name, title) =>
    html`<${SheetButton} path=${`${path}/${name}.csv${query}`} file=${`qiusuo-${own ? "usage" : "board"}-${name}.csv`} name=${title} />`;
  const { total } = report;
  const empty = !total.searches && !total.answers;
  return html`
    <${Tiles} total=${total} own=${own} />
    ${empty && html`<p class="empty" role="status">${tr("noData")}</p>`}
    ${!empty &&
    html`
      <${Searches} report=${report} sheet=${sheet} />
      <div class="pair">
        <${Times} report=${report} sheet=${sheet} />
        <${Answers} report=${report} sheet=${sheet} />
      </div>
    `}
    <${EngineTable} report=${report} own=${own} sheet=${sheet} />
    ${!empty &&
    html`
      <div class="pair">
        <${OutcomeTable} report=${report} sheet=${sheet} />
        <${ModelTable} report=${report} sheet=${sheet} />
      </div>
    `}
    ${!own && !empty && html`<${PeopleTable} report=${report} sheet=${sheet} />`}
    ${!own && html`<${QueryTable} report=${report} sheet=${sheet} />`}
    ${!own && html`<${Card} title=${tr("feedback")} about=${tr("feedbackAbout")} sheet=${sheet("feedback", tr("feedback"))} />`}
  `;
}

/** @param {{total: any, own: boolean}} props */
function Tiles({ total, own }) {
  const costs = (total.cost ?? []).map((/** @type {any} */ each) => money(each.amount, each.currency)).join(" + ");
  const tiles = [
    [tr("searches"), count(total.searches), ""],
    [tr("fromCache"), share(total.cached, total.searches), count(total.cached)],
    [tr("failed"), share(total.failed, total.searches), count(total.failed)],
    [tr("saved"), count(total.saved), tr("savedAbout")],
    [tr("searchMedian"), duration(total.median), tr("p95Is", { time: duration(total.p95) })],
    [tr("answers"), count(total.answers), tr("failedOf", { count: count(total.answersFailed) })],
    [tr("tokens"), brief(total.tokensIn + total.tokensOut), tr("inOut", { in: brief(total.tokensIn), out: brief(total.tokensOut) })],
    ...(own ? [] : [[tr("cost"), costs || "–", tr("costAbout")]]),
  ];
  return html`
    <dl class="tiles">
      ${tiles.map(
        ([name, value, about]) => html`
          <div key=${name}>
            <dt>${name}</dt>
            <dd>${value}</dd>
            ${about && html`<dd class="hint">${about}</dd>`}
          </div>
        `,
      )}
    </dl>
  `;
}

/**
 * @param {any[]} slots
 * @param {(slot: any) => Record<string, number>} parts
 * @param {(name: string) => string} told
 * @param {string[]} [order] those come first, in this order
 * @returns {{name: string, values: number[]}[]} the largest ones, and all others together
 */
function parted(slots, parts, told, order = []) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const slot of slots) for (const [name, n] of Object.entries(parts(slot))) sums.set(name, (sums.get(name) ?? 0) + n);
  const rank = (/** @type {string} */ name) => (order.includes(name) ? order.indexOf(name) : order.length);
  const names = [...sums].sort((a, b) => rank(a[0]) - rank(b[0]) || b[1] - a[1]).map(([name]) => name);
  const shown = names.length > MOST + 1 ? names.slice(0, MOST) : names;
  const rest = names.slice(shown.length);
  const series = shown.map((name) => ({ name: told(name), values: slots.map((slot) => parts(slot)[name] ?? 0) }));
  if (!rest.length) return series;
  const others = slots.map((slot) => rest.reduce((sum, name) => sum + (parts(slot)[name] ?? 0), 0));
  return [...series, { name: tr("others"), values: others }];
}

/** @param {any} report @returns {any[]} the slots in which something happened, the last first */
function busy(report) {
  return report.time.filter((/** @type {any} */ slot) => slot.searches || slot.answers).reverse();
}

/** @param {{report: any, sheet: (name: string, title: string) => any}} props */
function Searches({ report, sheet }) {
  const [by, setBy] = useState("engines");
  const labels = useMemo(() => new Map(report.engines.map((/** @type {any} */ row) => [row.name, row.label])), [report]);
  const times = useMemo(() => report.time.map((/** @type {any} */ slot) => slot.at), [report]);
  const series = useMemo(
    () =>
      by === "engines"
        ? parted(report.time, (slot) => slot.engines, (name) => named(String(labels.get(name) ?? name)))
        : parted(report.time, (slot) => slot.outcomes, ending, ORDER),
    [report, by],
  );
  const title = tr("searchesOverTime");
  const choice = /** @type {const} */ ([
    ["engines", "byEngine"],
    ["outcomes", "byOutcome"],
  ]);
  const more = html`
    <div class="choice" role="group" aria-label=${title}>
      ${choice.map(
        ([each, words]) => html`<button type="button" key=${each} aria-pressed=${each === by} onClick=${() => setBy(each)}>${tr(words)}</button>`,
      )}
    </div>
  `;
  const columns = [
    { title: tr("time"), cell: (/** @type {any} */ row) => moment(row.at, report.by) },
    { title: tr("searches"), cell: (/** @type {any} */ row) => count(row.searches) },
    { title: tr("fromCache"), cell: (/** @type {any} */ row) => count(row.cached) },
    { title: tr("failed"), cell: (/** @type {any} */ row) => count(row.failed) },
    { title: tr("saved"), cell: (/** @type {any} */ row) => count(row.saved) },
    ...series.map((each) => ({ title: each.name, cell: (/** @type {any} */ row) => count(each.values[times.indexOf(row.at)]) })),
  ];
  return html`
    <${Card} title=${title} sheet=${sheet("time", title)} more=${more}>
      <${Chart} label=${tr("plotOf", { name: title })} times=${times} series=${series} by=${report.by} bars=${true} />
      <${Folded} name=${title} columns=${columns} rows=${busy(report)} keyOf=${(/** @type {any} */ row) => row.at} />
    <//>
  `;
}

/** @param {{report: any, sheet: (name: string, title: string) => any}} props */
function Times({ report, sheet }) {
  const times = useMemo(() => report.time.map((/** @type {any} */ slot) => slot.at), [report]);
  const series = useMemo(
    () => [
      { name: tr("median"), values: report.time.map((/** @type {any} */ slot) => slot.median) },
      { name: tr("p95"), values: report.time.map((/** @type {any} */ slot) => slot.p95) },
    ],
    [report],
  );
  const title = tr("searchTime");
  const columns = [
    { title: tr("time"), cell: (/** @type {any} */ row) => moment(row.at, report.by) },
    { title: tr("median"), cell: (/** @type {any} */ row) => duration(row.median) },
    { title: tr("p95"), cell: (/** @type {any} */ row) => duration(row.p95) },
  ];
  const rows = busy(report).filter((row) => row.median !== null);
  return html`
    <${Card} title=${title} sheet=${sheet("time", title)}>
      <${Chart} label=${tr("plotOf", { name: title })} times=${times} series=${series} by=${report.by} format=${duration} />
      <${Folded} name=${title} columns=${columns} rows=${rows} keyOf=${(/** @type {any} */ row) => row.at} />
    <//>
  `;
}

/** @param {{report: any, sheet: (name: string, title: string) => any}} props */
function Answers({ report, sheet }) {
  const times = useMemo(() => report.time.map((/** @type {any} */ slot) => slot.at), [report]);
  const series = useMemo(() => parted(report.time, (slot) => slot.models, modelNamed), [report]);
  const title = tr("answersOverTime");
  const columns = [
    { title: tr("time"), cell: (/** @type {any} */ row) => moment(row.at, report.by) },
    { title: tr("answers"), cell: (/** @type {any} */ row) => count(row.answers) },
    { title: tr("failed"), cell: (/** @type {any} */ row) => count(row.answersFailed) },
    { title: tr("tokensIn"), cell: (/** @type {any} */ row) => count(row.tokensIn) },
    { title: tr("tokensOut"), cell: (/** @type {any} */ row) => count(row.tokensOut) },
  ];
  const rows = busy(report).filter((row) => row.answers);
  return html`
    <${Card} title=${title} sheet=${sheet("time", title)}>
      ${series.length
        ? html`<${Chart} label=${tr("plotOf", { name: title })} times=${times} series=${series} by=${report.by} bars=${true} />`
        : html`<p class="hint nothing">${tr("nothing")}</p>`}
      ${rows.length > 0 && html`<${Folded} name=${title} columns=${columns} rows=${rows} keyOf=${(/** @type {any} */ row) => row.at} />`}
    <//>
  `;
}

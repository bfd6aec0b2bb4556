/** A plot over time. What it shows stands also in the table beside it, which everybody can read. */
import { html } from "../html.js";
import { getLanguage } from "../i18n.js";
import { useEffect, useRef, useState } from "../vendor.js";
import { brief, moment, tick } from "./telling.js";
import { uPlot } from "./vendor.js";

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {(number | null)[]} values
 */

const HEIGHT = 190;
const DAY = 86_400;

/** @param {string} name @returns {string} */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** @param {number} index @returns {string} */
function paint(index) {
  return colour(`--series-${(index % 6) + 1}`);
}

/** @param {Series[]} series @returns {(number | null)[][]} each with those after it added: the first is the whole */
function stacked(series) {
  const sums = series.map((each) => [...each.values]);
  for (let row = sums.length - 2; row >= 0; row--) {
    sums[row] = sums[row].map((value, slot) => (value ?? 0) + (sums[row + 1][slot] ?? 0));
  }
  return sums;
}

/** @param {number} seconds @returns {boolean} in the reader's own time a day begins */
function beginsDay(seconds) {
  const time = new Date(seconds * 1000);
  return time.getHours() === 0 && time.getMinutes() === 0;
}

/**
 * @param {{times: string[], series: Series[], by: string, bars: boolean, format: (value: number) => string}} plot
 * @param {number} width
 * @param {(slot: number | null) => void} point
 * @returns {any} the options of uPlot
 */
function options({ series, by, bars, format }, width, point) {
  const line = colour("--line");
  const axis = { stroke: colour("--soft"), font: "12px system-ui, sans-serif", ticks: { show: false } };
  const days = uPlot.tzDate;
  const bucket = by === "day" ? DAY : 3600; // a bar begins at its time: the last one needs room behind it
  const shown = series.map((each, index) => {
    const stroke = paint(index);
    const common = { label: each.name, stroke, points: { show: false } };
    if (bars) return { ...common, width: 0, fill: stroke, paths: uPlot.paths.bars?.({ size: [0.72, 36], align: 1 }) };
    return { ...common, width: 2, spanGaps: true, points: { show: each.values.filter((v) => v !== null).length < 40, size: 5, fill: stroke } };
  });
  return {
    width,
    height: HEIGHT,
    padding: [10, 26, 0, 0],
    legend: { show: false },
    tzDate: (/** @type {number} */ seconds) => (by === "day" ? days(new Date(seconds * 1000), "Etc/UTC") : new Date(seconds * 1000)),
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !bars } },
    scales: { x: { range: (/** @type {any} */ _u, /** @type {number} */ low, /** @type {number} */ high) => [low - bucket, high + bucket] }, y: { range: (/** @type {any} */ _u, /** @type {number} */ _low, /** @type {number} */ high) => [0, high > 0 ? high * 1.08 : 1] } },
    series: [{}, ...shown],
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 56,
        size: 30,
        incrs: by === "day" ? [1, 2, 5, 7, 14, 30, 60].map((n) => n * DAY) : [1, 2, 3, 6, 12, 24, 48].map((n) => n * 3600),
        values: (/** @type {any} */ _u, /** @type {number[]} */ splits) => splits.map((at) => tick(at, by, beginsDay(at))),
      },
      {
        ...axis,
        size: 52,
        grid: { stroke: line, width: 1 },
        values: (/** @type {any} */ _u, /** @type {number[]} */ splits) => splits.map((value) => format(value)),
      },
    ],
    hooks: { setCursor: [(/** @type {any} */ plot) => point(plot.cursor.idx ?? null)] },
  };
}

/**
 * @param {{
 *   label: string, times: string[], series: Series[], by: string, bars?: boolean,
 *   format?: (value: number) => string,
 * }} props
 */
export function Chart({ label, times, series, by, bars = false, format = brief }) {
  /** @type {{current: HTMLElement | null}} */
  const box = useRef(null);
  const [slot, setSlot] = useState(/** @type {number | null} */ (null));
  const look = document.documentElement.dataset.theme;
  useEffect(() => {
    const place = box.current;
    if (!place) return undefined;
    const x = times.map((iso) => new Date(iso).getTime() / 1000);
    const values = bars ? stacked(series) : series.map((each) => each.values);
    const plot = new uPlot(
      options({ times, series, by, bars, format }, place.clientWidth, setSlot),
      /** @type {any} */ ([x, ...values]),
      place,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
    watch.observe(place);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [times, series, by, bars, look, getLanguage()]);
  const at = slot !== null && slot < times.length ? slot : null;
  return html`
    <div class="plot" ref=${box} role="img" aria-label=${label}></div>
    <div class="legend" aria-hidden="true">
      <ul>
        ${series.map(
          (each, index) => html`
            <li key=${each.name}>
              <i class=${`swatch s${(index % 6) + 1}`}></i>${each.name}
              ${at !== null && html`<b>${each.values[at] === null ? "–" : format(/** @type {number} */ (each.values[at]))}</b>`}
            </li>
          `,
        )}
      </ul>
      <span class="at">${at === null ? "" : moment(times[at], by)}</span>
    </div>
  `;
}

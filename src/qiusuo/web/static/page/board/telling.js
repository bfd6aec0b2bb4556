/** Figures and moments as the reader writes them, and names in words. */
import { languageTag, saying, tOutcome } from "../i18n.js";

/** @import { Language } from "../types.js" */

/** @type {(tongue: Language) => Promise<typeof import("./words/en.js")>} */
const load = (tongue) => import(`./words/${tongue}.js`);

export const tr = await saying(load);

const OTHERS = ":others";
const LOCAL = "local";

/** @param {number | null | undefined} value @returns {string} */
export function count(value) {
  return value === null || value === undefined ? "–" : value.toLocaleString(languageTag());
}

/** @param {number} value @returns {string} with few letters, for an axis or a tile */
export function brief(value) {
  return new Intl.NumberFormat(languageTag(), { notation: "compact", maximumFractionDigits: 1 }).format(value);
}

/** @param {number | null | undefined} ms @returns {string} */
export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** @param {number} part @param {number} whole @returns {string} */
export function share(part, whole) {
  return whole ? `${((100 * part) / whole).toFixed(part && part < whole / 10 ? 1 : 0)} %` : "–";
}

/** @param {number | null | undefined} amount @param {string} currency @returns {string} */
export function money(amount, currency) {
  if (amount === null || amount === undefined) return "–";
  const digits = amount && amount < 1 ? 3 : 2;
  const options = { style: "currency", currency, currencyDisplay: "narrowSymbol", maximumFractionDigits: digits };
  try {
    return amount.toLocaleString(languageTag(), /** @type {Intl.NumberFormatOptions} */ (options));
  } catch {
    return `${amount.toFixed(digits)} ${currency}`;
  }
}

/**
 * @param {string} iso
 * @param {string} by "hour": in the reader's own time; "day": a day of UTC
 * @returns {string}
 */
export function moment(iso, by) {
  const time = new Date(iso);
  if (by === "day") return time.toLocaleDateString(languageTag(), { timeZone: "UTC", month: "short", day: "numeric", weekday: "short" });
  return time.toLocaleString(languageTag(), { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false });
}

/** @param {number} seconds @param {string} by @param {boolean} whole a mark of a whole day @returns {string} */
export function tick(seconds, by, whole) {
  const time = new Date(seconds * 1000);
  if (by === "day") return time.toLocaleDateString(languageTag(), { timeZone: "UTC", month: "numeric", day: "numeric" });
  if (whole) return time.toLocaleDateString(languageTag(), { month: "numeric", day: "numeric" });
  return time.toLocaleTimeString(languageTag(), { hour: "2-digit", minute: "2-digit", hour12: false });
}

const ENDS = /** @type {const} */ ({
  ok: "ok",
  empty: "empty",
  cached: "cached",
  stale: "stale",
  failed: "failed",
  error: "error",
  invalid: "invalid",
  rate_limited: "limited",
  not_configured: "notConfigured",
  cancelled: "cancelled",
  done: "done",
  stopped: "stopped",
});

/** @param {string} outcome how a search or an answer ended @returns {string} */
export function ending(outcome) {
  return outcome in ENDS ? tr(ENDS[/** @type {keyof typeof ENDS} */ (outcome)]) : tOutcome(outcome);
}

const STATES = /** @type {const} */ ({ ready: "ready", resting: "resting", idle: "idle" });

/** @param {string} state of an engine @returns {string} */
export function standing(state) {
  return state in STATES ? tr(STATES[/** @type {keyof typeof STATES} */ (state)]) : state;
}

/** @param {string} name of an engine, a model or a person @returns {string} */
export function named(name) {
  if (name === OTHERS) return tr("others");
  return name === LOCAL ? tr("thisMachine") : name;
}

/** @param {string} name of a model, or of what answers without one @returns {string} */
export function modelNamed(name) {
  return name === "extractive" ? tr("excerpts") : named(name);
}

/** @param {number} seconds @returns {string} */
export function wait(seconds) {
  if (seconds < 90) return tr("seconds", { count: Math.ceil(seconds) });
  return seconds < 5400 ? tr("minutes", { count: Math.round(seconds / 60) }) : tr("hours", { count: Math.round(seconds / 3600) });
}

/** The page's language and appearance: chosen by the reader, else by the browser; remembered. */
import { recall, remember } from "./browser.js";
import { NOTICES, OUTCOMES, WORDS } from "./words.js";

/** @import { Language } from "./types.js" */
/** @typedef {"auto" | "light" | "dark"} Theme */

const LANGUAGE = "qiusuo.language";
const THEME = "qiusuo.theme";

/** @type {Set<() => void>} */
const listeners = new Set();

/** @type {Language} */
let language = readLanguage();
/** @type {Theme} */
let theme = readTheme();

/** @returns {Language} */
function readLanguage() {
  const kept = recall("localStorage", LANGUAGE);
  if (kept === "zh" || kept === "en") return kept;
  return /^zh\b/i.test(navigator.language) ? "zh" : "en";
}

/** @returns {Theme} */
function readTheme() {
  const kept = recall("localStorage", THEME);
  return kept === "light" || kept === "dark" ? kept : "auto";
}

export function getLanguage() {
  return language;
}

export function getTheme() {
  return theme;
}

/** @param {Language} chosen */
export function setLanguage(chosen) {
  language = chosen;
  remember("localStorage", LANGUAGE, chosen);
  applyPreferences();
}

/** @param {Theme} chosen */
export function setTheme(chosen) {
  theme = chosen;
  remember("localStorage", THEME, chosen);
  applyPreferences();
}

/** Mark the document, and draw the page anew. */
export function applyPreferences() {
  const root = document.documentElement;
  root.lang = language === "zh" ? "zh-CN" : "en";
  const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "dark" : "light";
  for (const listener of listeners) listener();
}

/** @param {() => void} listener */
export function onPreferences(listener) {
  listeners.add(listener);
}

/**
 * Make what says something in the page's language, or in another one, with the words of a room.
 *
 * @template {string} Key
 * @param {Record<Language, Record<Key, string>>} words
 * @returns {(key: Key, values?: Record<string, string | number>, tongue?: Language) => string}
 */
export function saying(words) {
  return (key, values, tongue = language) => {
    const text = words[tongue][key] ?? key;
    return values ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? "")) : text;
  };
}

export const t = saying(WORDS);

/** @param {string} outcome how an attempt ended @returns {string} it in words, else as it is */
export function tOutcome(outcome) {
  return /** @type {Record<string, string>} */ (OUTCOMES[language])[outcome] ?? outcome;
}

/**
 * @param {string} code
 * @returns {{title: string, message: string, fix: string} | undefined} the words of a notice that the page itself gives
 */
export function ownNotice(code) {
  return /** @type {Record<string, {title: string, message: string, fix: string}>} */ (NOTICES[language])[code];
}

/** @param {(string | null | undefined | false)[]} parts @returns {string} those that say something, in one line */
export function listed(...parts) {
  return parts.filter(Boolean).join(" · ");
}

/** @param {string} iso @returns {string} a day as the reader writes it */
export function formatDay(iso) {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return time.toLocaleDateString(language === "zh" ? "zh-CN" : "en", { year: "numeric", month: "short", day: "numeric" });
}

/** @param {number} ms @returns {string} */
export function formatSeconds(ms) {
  return ms < 10_000 ? (ms / 1000).toFixed(1) : String(Math.round(ms / 1000));
}

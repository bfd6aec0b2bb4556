/** The page's language and appearance: chosen by the reader, else by the browser; remembered. */
import { recall, remember } from "./browser.js";

/** @import { Language } from "./types.js" */
/** @typedef {"auto" | "light" | "dark"} Theme */
/** @typedef {typeof import("./words/en.js")} Words */

const LANGUAGE = "qiusuo.language";
const THEME = "qiusuo.theme";

/** @type {Set<() => void>} */
const listeners = new Set();

/** What has words of its own loads them by these, in the language that is chosen. @type {((tongue: Language) => Promise<unknown>)[]} */
const loaders = [];

/** @type {Language} */
let language = readLanguage();
/** @type {Theme} */
let theme = readTheme();

/** @returns {Language} */
function readLanguage() {
  // Found out before the first paint, by early.js.
  return /** @type {Language} */ (document.documentElement.dataset.language);
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

/** @param {Language} chosen it holds when all words of the page are there in it; where they cannot be had nothing changes */
export async function setLanguage(chosen) {
  await Promise.all(loaders.map((load) => load(chosen)));
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
  root.lang = languageTag();
  const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "dark" : "light";
  for (const listener of listeners) listener();
}

/** @param {() => void} listener */
export function onPreferences(listener) {
  listeners.add(listener);
}

/**
 * Load words in the page's language, and again when another one is chosen.
 *
 * @template Module
 * @param {(tongue: Language) => Promise<Module>} load
 * @returns {Promise<() => Module>} what gives the words of the language that holds
 */
async function worded(load) {
  /** @type {Partial<Record<Language, Module>>} */
  const there = {};
  /** @param {Language} tongue */
  const need = async (tongue) => (there[tongue] ??= await load(tongue));
  loaders.push(need);
  while (!there[language]) await need(language);
  return () => /** @type {Module} */ (there[language]);
}

/**
 * Make what says something in the page's language, with the words of a room.
 *
 * @template {string} Key
 * @param {(tongue: Language) => Promise<{WORDS: Record<Key, string>}>} load
 * @returns {Promise<(key: Key, values?: Record<string, string | number>) => string>}
 */
export async function saying(load) {
  const words = await worded(load);
  return (key, values) => {
    const text = words().WORDS[key] ?? key;
    return values ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? "")) : text;
  };
}

/** @type {(tongue: Language) => Promise<Words>} */
const load = (tongue) => import(`./words/${tongue}.js`);
const own = await worded(load);

export const t = await saying(load);

/** @returns {string} the language as HTML and dates name it */
export function languageTag() {
  return own().LANGUAGES.find(([name]) => name === language)?.[1] ?? language;
}

/** @returns {string[][]} those that may be chosen: name, tag, what it calls itself */
export function languages() {
  return own().LANGUAGES;
}

/** @param {Partial<Record<Language, string>> | undefined} labels what the server says in several languages @returns {string} */
export function inWords(labels) {
  return labels?.[language] ?? (language === "zh-Hant" ? labels?.zh : undefined) ?? "";
}

/** @param {string} outcome how an attempt ended @returns {string} it in words, else as it is */
export function tOutcome(outcome) {
  return /** @type {Record<string, string>} */ (own().OUTCOMES)[outcome] ?? outcome;
}

/**
 * @param {string} code
 * @returns {{title: string, message: string, fix: string} | undefined} the words of a notice that the page itself gives
 */
export function ownNotice(code) {
  return /** @type {Record<string, {title: string, message: string, fix: string}>} */ (own().NOTICES)[code];
}

/** @param {(string | null | undefined | false)[]} parts @returns {string} those that say something, in one line */
export function listed(...parts) {
  return parts.filter(Boolean).join(" · ");
}

/** @param {string} iso @returns {string} a day as the reader writes it */
export function formatDay(iso) {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  return time.toLocaleDateString(languageTag(), { year: "numeric", month: "short", day: "numeric" });
}

/** @param {number} ms @returns {string} */
export function formatSeconds(ms) {
  return ms < 10_000 ? (ms / 1000).toFixed(1) : String(Math.round(ms / 1000));
}

/** Conversations: opened, begun, listed, renamed, deleted; and their settings. */
import { call, health, refusedWith, sessionPath } from "./api.js";
import { announce, onAnnounced } from "./browser.js";
import { messageOf } from "./failures.js";
import { getLanguage, onPreferences, t } from "./i18n.js";
import { change, defaultSettings, getState, say, toast } from "./store.js";
import { tellAgain } from "./telling.js";
import { PENDING, UNSENT, attach, detach, turnsBegun } from "./turns.js";
import { asWished, looking, noteSearch } from "./wishes.js";

/** @import { Session, SessionInfo, Settings, Turn } from "./types.js" */

const HISTORY_LENGTH = 100;
const RETRY_MS = 2000;
const UNWELL_MS = 5000;
/** The server looks at its engines no more often than every 5 seconds. */
const FRESH_MS = 6000;
/** The server runs, but without conversations. */
export const NO_CHAT = "no chat";

/** The change of settings that is under way; what is sent next waits for it. @type {Promise<unknown>} */
let saved = Promise.resolve();
let changes = 0;
/** What to go back to when a change is refused and there is no conversation yet. */
let before = defaultSettings();
/** Counts the conversations that were gone to, so that what was slow does not land in a later one. */
let place = 0;
/** The conversation that is shown or being fetched; blank for a new one. */
let target = "";
/** Looks at conversations, counted: one that comes after a later one is not shown. */
let looks = 0;
let lookShown = 0;
/** So many entries of the history are shown. */
let historyLength = HISTORY_LENGTH;
/** It is being fetched; what is asked or set meanwhile is meant for it. @type {Promise<unknown>} */
let opened = Promise.resolve();

/** Load everything the page starts with. */
export async function start() {
  try {
    const [config] = await Promise.all([call("GET", "/api/chat/config"), loadHistory()]);
    change({ config, failed: "", locked: false });
    if (!getState().current && !changes) change({ settings: asWished(config.settings) });
  } catch (error) {
    if (refusedWith(error, 401)) return;
    const absent = refusedWith(error, 404);
    change({ failed: absent ? NO_CHAT : messageOf(error) });
    if (!absent) setTimeout(start, RETRY_MS);
    return;
  }
  void loadHealth();
  if (new URLSearchParams(location.search).get("q")) return (await import("./later/asked.js")).takeQuestion();
  const { current } = getState();
  if (current && current.id === addressed().id) await load(current.id).catch(() => {});
  else await openFromAddress();
}

async function loadHealth() {
  const found = await health().catch(() => null);
  if (found) change({ findings: found.findings ?? [], healthy: found.status !== "down" });
}

/** Something has failed: see whether it is down. */
export function lookAgain() {
  void loadStatus();
  setTimeout(loadStatus, FRESH_MS);
}

/** Look at the set-up again: it may have been changed meanwhile, here or elsewhere. */
export async function loadStatus() {
  const config = call("GET", "/api/chat/config").then((fresh) => {
    change({ config: fresh });
    if (!getState().current && !changes) change({ settings: asWished(fresh.settings) });
  });
  await Promise.allSettled([config, loadHealth()]);
}

/** Leave the settings of an empty conversation as they stand, whatever new ones begin with from now on. */
export function keepSettings() {
  if (!getState().saving) changes++;
}

/** Look again at what may have changed elsewhere. */
async function refresh() {
  const { current, locked, config } = getState();
  if (locked || !config) return;
  const jobs = [loadHistory(), loadStatus()];
  if (current) jobs.push(load(current.id));
  await Promise.allSettled(jobs);
}

/** What is broken may be repaired at any time. */
function watchRepairs() {
  const { config, findings, healthy, locked } = getState();
  const unwell = !healthy || findings.length > 0 || !config?.search.available || config.search.problem;
  if (config && unwell && !locked && !document.hidden) void loadStatus();
}

export function watchOtherTabs() {
  let told = getLanguage();
  onPreferences(() => {
    if (told === getLanguage()) return;
    told = getLanguage();
    void loadStatus();
    void tellAgain();
  });
  onAnnounced((session) => {
    void refreshHistory();
    if (session === null) void loadStatus(); // the settings page
    // Also when it is just being opened: what is fetched may be older than what is told.
    if (session && session === target) void opened.then(() => (session === target ? load(session) : undefined)).catch(() => {});
  });
  setInterval(watchRepairs, UNWELL_MS);
  document.addEventListener("visibilitychange", () => document.hidden || void refresh());
  window.addEventListener("focus", () => void refresh());
  window.addEventListener("online", () => void refresh());
  window.addEventListener("hashchange", () => void openFromAddress());
}

/** @returns {{id: string, turn: string}} the conversation that the address names, and perhaps an answer in it */
function addressed() {
  const [, id = "", turn = ""] = /^#\/s\/([\w-]+)(?:\/([\w-]+))?$/.exec(location.hash) ?? [];
  return { id, turn };
}

/** @param {string} turn */
async function goTo(turn) {
  if (turn) await (await import("./later/link.js")).showTurn(turn);
}

/** Show the conversation that the address names. */
export async function openFromAddress() {
  const { id, turn } = addressed();
  if (id && id === target) return goTo(turn);
  if (id === target) return;
  if (!id) return newChat();
  leave(id);
  change({ current: null, loading: true, turns: [], earlier: 0, drawer: false });
  opened = open(id);
  await opened;
  if (target === id) await goTo(turn);
}

/** @param {string} id */
async function open(id) {
  const mine = place;
  try {
    await load(id);
  } catch (error) {
    if (mine !== place) return;
    toast(messageOf(error), "error");
    newChat({ instead: true });
  } finally {
    if (mine === place) change({ loading: false });
  }
}

/** Go elsewhere: nothing of what is under way here shall be shown there. @param {string} id */
function leave(id) {
  detach();
  place++;
  changes++;
  target = id;
  change({ saving: false, fetching: false, note: null });
}

/** The conversation that is shown was deleted elsewhere. */
export function gone() {
  toast(t("gone"), "error");
  newChat({ instead: true });
  void refreshHistory();
}

/**
 * Fetch a conversation; if a turn is running there, follow it.
 *
 * @param {string} id
 */
async function load(id) {
  const mine = place;
  const begun = turnsBegun();
  const look = ++looks;
  /** @type {Session | null} */
  const found = await call("GET", sessionPath(id)).catch((error) => {
    if (refusedWith(error, 404)) return null;
    throw error;
  });
  if (mine !== place || look < lookShown) return;
  if (!found) return gone();
  lookShown = look;
  const { turns, earlier, ...info } = found;
  const { live, current, turns: shown } = getState();
  // Asked and answered while this look was on its way: it does not know of that.
  if (!live && begun !== turnsBegun()) return load(id);
  // A question that did not get through is known here only.
  const unsent = current?.id === id ? shown.filter((turn) => turn.id.startsWith(UNSENT)) : [];
  const older = current?.id === id ? olderThan(turns, shown) : [];
  const asLong = current?.id === id && shown.length === older.length + turns.length + unsent.length;
  const same = asLong && current.updatedAt === info.updatedAt && !info.running;
  // What is being answered is followed by its events; this look may be older than it.
  if (live || same) {
    change({ current: info, ...settingsOf(info) });
    return;
  }
  change({
    current: info,
    turns: [...older, ...turns, ...unsent],
    earlier: earlier - older.length,
    ...settingsOf(info),
  });
  if (info.running) attach(id, info.running);
}

/** @param {Turn[]} fetched @param {Turn[]} shown @returns {Turn[]} those shown that come right before the fetched ones */
function olderThan(fetched, shown) {
  return shown.slice(0, Math.max(0, shown.findIndex((turn) => turn.id === fetched[0]?.id)));
}

/** Fetch the turns before those that are shown. */
export async function loadEarlier() {
  const { current, turns, earlier, fetching } = getState();
  const first = turns.find((turn) => turn.id !== PENDING && !turn.id.startsWith(UNSENT));
  if (!current || !first || !earlier || fetching) return;
  const mine = place;
  change({ fetching: true });
  try {
    /** @type {Session} */
    const found = await call("GET", sessionPath(current.id, `?before=${encodeURIComponent(first.id)}`));
    const { turns: shown } = getState();
    if (mine === place && shown[0]?.id === turns[0].id) {
      change({ turns: [...found.turns, ...shown], earlier: found.earlier });
    }
  } catch (error) {
    if (mine === place) toast(messageOf(error), "error");
  }
  if (mine === place) change({ fetching: false });
}

/** @param {SessionInfo} info */
function settingsOf(info) {
  return getState().saving ? {} : { settings: info.settings };
}

/**
 * Begin a conversation: it takes the settings along, but for the mode, which is the usual one again; it is known to the
 * server from the first question on.
 *
 * @param {{instead?: boolean}} [how] `instead`: of one that is no more, so there is no way back
 */
export function newChat({ instead = false } = {}) {
  leave("");
  const { settings, config } = getState();
  const begun = asWished(looking({ ...settings, mode: config?.settings.mode ?? settings.mode }));
  change({ current: null, turns: [], earlier: 0, loading: false, drawer: false, settings: begun });
  if (location.hash) history[instead ? "replaceState" : "pushState"](null, "", location.pathname);
  focusQuestion();
}

/** Ready for typing; not on phones, where the keyboard would cover half of the page. */
export function focusQuestion() {
  if (!matchMedia("(pointer: coarse)").matches) document.getElementById("question")?.focus();
}

/**
 * @returns {Promise<SessionInfo | null>} the conversation, with its settings saved; made where there is none yet; null
 *   when another one was gone to meanwhile
 */
export async function ensureSession() {
  const mine = place;
  await opened;
  await saved;
  if (mine !== place) return null;
  const session = getState().current ?? (await createSession());
  // What comes now is what a reload shall show.
  if (mine === place && addressed().turn) history.replaceState(null, "", `#/s/${session.id}`);
  return mine === place ? session : null;
}

/** @returns {Promise<SessionInfo>} */
async function createSession() {
  const mine = place;
  const { mode, search, engine, results, depth = null, model = null, ...rest } = getState().settings;
  // The switch keeps its place under agent mode, but can be set in chat mode only.
  const there = getState().config?.models?.some(({ name }) => name === model);
  const { focus = null, sites = [], freshness = null } = rest;
  const chosen = { search, engine, results, depth, model: there ? model : null, focus, sites, freshness };
  const wanted = mode === "agent" ? chosen : { mode, ...chosen };
  /** @type {Session & {removed: {title: string}[]}} */
  const { turns: _none, removed, ...made } = await call("POST", "/api/chat/sessions", { settings: wanted });
  for (const { title } of removed) toast(t("roomMade", { title: title || t("untitled") }), "error");
  const info = mode === "agent" ? await call("PATCH", sessionPath(made.id), { settings: { mode } }) : made;
  if (mine === place) {
    target = info.id;
    change({ current: info });
    history.replaceState(null, "", `#/s/${info.id}`);
  }
  return info;
}

/**
 * Change settings: shown at once, then as the server says; taken back when it refuses.
 *
 * @param {Partial<Settings>} values
 * @param {string} confirmation
 */
export function changeSettings(values, confirmation) {
  const { settings, saving } = getState();
  if (!saving) before = settings;
  const mine = ++changes;
  const [here, meant] = [place, target];
  change({ settings: looking({ ...settings, ...values }), saving: true });
  // At once: a new chat that is begun before the server has answered shall begin so too.
  if (values.search !== undefined) noteSearch(values.search);
  saved = saved.then(async () => {
    await opened;
    try {
      const id = here === place ? getState().current?.id : meant;
      if (!id && here !== place) return; // a new chat takes them along anyway
      const info = id ? await call("PATCH", sessionPath(id), { settings: values }) : await createSession();
      // A later change is shown already.
      if (mine === changes) change({ settings: info.settings, current: { ...getState().current, ...info }, saving: false });
      else if (here === place) change({ current: { ...getState().current, ...info } });
      toast(confirmation);
      announce(info.id);
    } catch (error) {
      if (mine === changes) {
        change({ settings: getState().current?.settings ?? before, saving: false });
        if (values.search !== undefined) noteSearch(getState().settings.search);
      }
      toast(t("notSaved", { why: messageOf(error) }), "error");
    }
  });
  return saved;
}

async function loadHistory() {
  const { query } = getState();
  const length = historyLength;
  /** @type {SessionInfo[]} */
  const sessions = [];
  for (let more = true; more && sessions.length < length; ) {
    const place = `limit=${HISTORY_LENGTH}&offset=${sessions.length}&query=${encodeURIComponent(query)}`;
    const { sessions: found, ...rest } = await call("GET", `/api/chat/sessions?${place}`);
    if (query !== getState().query || length !== historyLength) return;
    sessions.push(...found);
    change({ kept: rest });
    more = rest.more;
  }
  change({ sessions });
}

/** Show more of the history. */
export function moreHistory() {
  historyLength += HISTORY_LENGTH;
  loadHistory().catch((error) => toast(messageOf(error), "error"));
}

/** Where the list cannot be had it stays as it is. */
export function refreshHistory() {
  return loadHistory().catch(() => {});
}

/** @param {string} query */
export function searchHistory(query) {
  change({ query });
  historyLength = HISTORY_LENGTH;
  loadHistory().catch((error) => toast(messageOf(error), "error"));
}

/** @param {string} id @param {string} title */
export async function rename(id, title) {
  try {
    const info = await call("PATCH", sessionPath(id), { title });
    const { current } = getState();
    if (current?.id === id) change({ current: { ...current, ...info } });
    await loadHistory();
    announce(id);
  } catch (error) {
    toast(messageOf(error), "error");
  }
}

/** @param {string} id */
export async function remove(id) {
  try {
    await call("DELETE", sessionPath(id));
  } catch (error) {
    if (!refusedWith(error, 404)) {
      toast(messageOf(error), "error");
      return;
    }
  }
  say(t("removed"));
  if (target === id) newChat({ instead: true });
  await refreshHistory();
  announce(id);
}

/** Conversations: opened, begun, listed, renamed, deleted; and their settings. */
import { ApiError, call, health, sessionPath } from "./api.js";
import { getLanguage, onPreferences, t } from "./i18n.js";
import { change, getState, say, toast } from "./store.js";
import { announce, onAnnounced } from "./tabs.js";
import { PENDING, UNSENT, attach, detach } from "./turns.js";

/** @import { Session, SessionInfo, Settings } from "./types.js" */

const HISTORY_LENGTH = 100;
const RETRY_MS = 2000;
/** The server runs, but without conversations. */
export const NO_CHAT = "no chat";

/** The change of settings that is under way; what is sent next waits for it. @type {Promise<unknown>} */
let saved = Promise.resolve();
let changes = 0;
/** Counts openings, so that a slow answer does not overwrite a later choice. */
let opening = 0;

/** Load everything the page starts with. */
export async function start() {
    try {
    const [config] = await Promise.all([call("GET", "/api/chat/config"), loadHistory()]);
    change({ config, failed: "", locked: false });
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return;
    const absent = error instanceof ApiError && error.status === 404;
    change({ failed: absent ? NO_CHAT : messageOf(error) });
    if (!absent) setTimeout(start, RETRY_MS);
    return;
  }
  void loadHealth();
  await openFromAddress();
}

async function loadHealth() {
  const found = await health(getLanguage()).catch(() => null);
  if (found) change({ findings: found.findings ?? [], healthy: found.status !== "down" });
}

/** Look again at what may have changed elsewhere. */
export async function refresh() {
  const { current, locked, config } = getState();
  if (locked || !config) return;
  const jobs = [loadHistory(), call("GET", "/api/chat/config").then((fresh) => change({ config: fresh }))];
  if (current) jobs.push(load(current.id));
  await Promise.allSettled(jobs);
}

export function watchOtherTabs() {
  onPreferences(() => void loadHealth()); // it is told in the reader's language
  onAnnounced((session) => {
    void loadHistory().catch(() => {});
    const { current } = getState();
    if (session && current?.id === session) void load(session).catch(() => {});
  });
  document.addEventListener("visibilitychange", () => document.hidden || void refresh());
  window.addEventListener("focus", () => void refresh());
  window.addEventListener("online", () => void refresh());
  window.addEventListener("hashchange", () => void openFromAddress());
}

/** @returns {string} the conversation that the address names */
function addressed() {
  return /^#\/s\/([\w-]+)$/.exec(location.hash)?.[1] ?? "";
}

async function openFromAddress() {
  const id = addressed();
  if (id === (getState().current?.id ?? "")) return;
  if (!id) return newChat();
  detach();
  const mine = ++opening;
  change({ loading: true, turns: [], drawer: false });
  try {
    await load(id);
  } catch (error) {
    if (mine !== opening) return;
    toast(error instanceof ApiError && error.status === 404 ? t("gone") : messageOf(error), "error");
    newChat();
  } finally {
    if (mine === opening) change({ loading: false });
  }
}

/**
 * Fetch a conversation; if a turn is running there, follow it.
 *
 * @param {string} id
 */
async function load(id) {
  const mine = opening;
  /** @type {Session} */
  const { turns, ...info } = await call("GET", sessionPath(id));
  if (mine !== opening || (getState().current && getState().current?.id !== id && addressed() !== id)) return;
  const { live, current, turns: shown } = getState();
  // A question that did not get through is known here only.
  const unsent = current?.id === id ? shown.filter((turn) => turn.id.startsWith(UNSENT)) : [];
  const same = current?.id === id && current.updatedAt === info.updatedAt && shown.length === turns.length + unsent.length;
  if (live ? live === info.running || live === PENDING : same) {
    change({ current: info, ...settingsOf(info) });
    return;
  }
  change({ current: info, turns: [...turns, ...unsent], ...settingsOf(info) });
  if (info.running && !live) attach(id, info.running);
}

/** @param {SessionInfo} info */
function settingsOf(info) {
  return getState().saving ? {} : { settings: info.settings };
}

/** Begin a conversation: it takes the settings along and is known to the server from the first question on. */
export function newChat() {
  detach();
  opening++;
  change({ current: null, turns: [], loading: false, drawer: false });
  if (location.hash) history.pushState(null, "", location.pathname);
  document.getElementById("question")?.focus();
}

/** @returns {Promise<SessionInfo>} the conversation, with its settings saved; made where there is none yet */
export async function ensureSession() {
  await saved;
  return getState().current ?? (await createSession());
}

/** @returns {Promise<SessionInfo>} */
async function createSession() {
  const { mode, search, engine, results } = getState().settings;
  // The switch keeps its place under agent mode, but can be set in chat mode only.
  const wanted = mode === "agent" ? { search, engine, results } : { mode, search, engine, results };
  /** @type {Session} */
  const { turns: _none, ...made } = await call("POST", "/api/chat/sessions", { settings: wanted });
  const info = mode === "agent" ? await call("PATCH", sessionPath(made.id), { settings: { mode } }) : made;
  opening++;
  change({ current: info });
  history.replaceState(null, "", `#/s/${info.id}`);
  return info;
}

/**
 * Change settings: shown at once, then as the server says; taken back when it refuses.
 *
 * @param {Partial<Settings>} values
 * @param {string} confirmation
 */
export function changeSettings(values, confirmation) {
  const before = getState().settings;
  const mine = ++changes;
  change({ settings: looking({ ...before, ...values }), saving: true });
  saved = saved.then(async () => {
    try {
      const { current } = getState();
      const info = current ? await call("PATCH", sessionPath(current.id), { settings: values }) : await createSession();
      // A later change is shown already.
      change(mine === changes ? { settings: info.settings, current: info, saving: false } : { current: info });
      toast(confirmation);
      announce(info.id);
    } catch (error) {
      if (mine === changes) change({ settings: before, saving: false });
      toast(t("notSaved", { why: messageOf(error) }), "error");
    }
  });
  return saved;
}

/** @param {Settings} settings @returns {Settings} with the switch as it must look */
function looking(settings) {
  return { ...settings, switch: settings.mode === "agent" ? "disabled" : settings.search ? "on" : "off" };
}

export async function loadHistory() {
  const { query } = getState();
  const found = await call("GET", `/api/chat/sessions?limit=${HISTORY_LENGTH}&query=${encodeURIComponent(query)}`);
  if (query === getState().query) change({ sessions: found.sessions });
}

/** @param {string} query */
export function searchHistory(query) {
  change({ query });
  loadHistory().catch((error) => toast(messageOf(error), "error"));
}

/** @param {string} id @param {string} title */
export async function rename(id, title) {
  try {
    const info = await call("PATCH", sessionPath(id), { title });
    const { current } = getState();
    if (current?.id === id) change({ current: info });
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
    if (!(error instanceof ApiError && error.status === 404)) {
      toast(messageOf(error), "error");
      return;
    }
  }
  say(t("removed"));
  if (getState().current?.id === id) newChat();
  await loadHistory().catch(() => {});
  announce(null);
}

/** @param {unknown} error @returns {string} */
export function messageOf(error) {
  if (error instanceof ApiError) return error.status === 0 ? t("cannotStart") : error.message;
  return error instanceof Error ? error.message : String(error);
}

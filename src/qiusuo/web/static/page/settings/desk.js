/** What lies on the desk: the settings as the server has them, and beside them what was typed and is not saved. */
import { ApiError, call, refusedWith } from "../api.js";
import { announce } from "../browser.js";
import { messageOf } from "../failures.js";
import { say, toast } from "../store.js";
import { labelOf, parted, withLabels } from "./labels.js";
import { tr } from "./tr.js";

/** @import { Secret, SettingsData } from "./types.js" */
/** @typedef {"model" | "engines" | "searxng" | "privacy"} Part what is saved at once */

/** Stands in the drafts for what shall be taken out of the file. */
export const REMOVED = Symbol("removed");

const OWNED = {
  model: /^(model|model_base_url|model_api_key|model_context|second_model|models\..+)$/,
  engines: /^(provider_priority|search_default|depth|engines\..+)$/,
  searxng: /^searxng_url$/,
  privacy: /^(retention_days|log_queries)$/,
};
const NUMBERS = /(^|[._])(context|monthly_quota|requests_per_second|retention_days)$/;

/**
 * @typedef {object} Desk
 * @property {SettingsData | null} data
 * @property {ApiError | null} refused the reader does not run this server
 * @property {string} failed why nothing could be read
 * @property {Record<string, any>} drafts by the setting's name
 * @property {string[]} added further models that are not saved yet
 * @property {Record<string, string>} errors what the server said of single settings
 * @property {Partial<Record<Part, string>>} faults what it said of a part as a whole
 * @property {Partial<Record<Part, string[]>>} clashes what somebody else has saved meanwhile
 * @property {Part | null} saving
 * @property {{count: number, names: string[]}} saved how often something was saved, and what at last
 * @property {boolean} packs there are packs of laws
 */

/** @type {Desk} */
let desk = {
  data: null,
  refused: null,
  failed: "",
  drafts: {},
  added: [],
  errors: {},
  faults: {},
  clashes: {},
  saving: null,
  saved: { count: 0, names: [] },
  packs: false,
};

/** @type {Set<() => void>} */
const listeners = new Set();

export function getDesk() {
  return desk;
}

/** @param {Partial<Desk>} changes */
export function put(changes) {
  desk = { ...desk, ...changes };
  for (const listener of [...listeners]) listener();
}

/** @param {() => void} listener @returns {() => void} what ends it */
export function onDesk(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** @returns {Promise<void>} when the settings were read, or could not be */
export async function load() {
  try {
    put({ data: await call("GET", "/api/settings"), refused: null, failed: "" });
  } catch (error) {
    if (refusedWith(error, 403)) put({ refused: /** @type {ApiError} */ (error), data: null });
    else if (!refusedWith(error, 401)) put({ failed: reasonOf(error) });
  }
}

/** @param {unknown} error @returns {string} what went wrong, each setting by its label */
export function reasonOf(error) {
  return (error instanceof ApiError && withLabels(error.fields, desk.data)) || messageOf(error);
}

/**
 * What the server has under a name; of a secret whether there is one.
 *
 * @param {SettingsData} data
 * @param {string} name
 * @returns {any}
 */
export function savedValue(data, name) {
  const [group, one, leaf] = parted(name);
  if (group === "models") {
    const entry = data.models.find((model) => model.name === one);
    if (!leaf) return Boolean(entry);
    if (!entry) return null; // it is not saved yet
    return leaf === "api_key" ? entry.key.set : /** @type {any} */ (entry)[leaf];
  }
  if (group === "engines") {
    const entry = data.engines.find((engine) => engine.name === one);
    if (leaf === "api_key") return entry?.key?.set ?? false;
    // The provider's own address stands there where none was chosen.
    if (leaf === "base_url") return entry?.address?.source === "default" ? null : entry?.address?.value;
    return /** @type {any} */ (entry)?.[leaf];
  }
  if (name === "provider_priority") return data.order.value;
  const field = data.fields[name];
  return field?.secret ? field.set : field?.value;
}

/** @param {string} name @returns {any} as typed, else as saved; blank where it is unset */
export function valueOf(name) {
  const { data, drafts } = desk;
  if (name in drafts) return drafts[name] === REMOVED ? "" : drafts[name];
  return (data && savedValue(data, name)) ?? "";
}

/** @param {string} name @returns {boolean} */
export function isChanged(name) {
  return name in desk.drafts;
}

/** Take note of what was typed. What is as it was is no change. @param {string} name @param {any} value */
export function edit(name, value) {
  const { [name]: _before, ...rest } = desk.drafts;
  const { [name]: _wrong, ...errors } = desk.errors;
  const saved = desk.data ? savedValue(desk.data, name) : null;
  const same = value !== REMOVED && JSON.stringify(plain(name, value)) === JSON.stringify(plain(name, saved ?? ""));
  put({ errors, drafts: same ? rest : { ...rest, [name]: value } });
}

/** A key: what is typed replaces it, and nothing typed leaves it as it is. @param {string} name @param {string | symbol} value */
export function editSecret(name, value) {
  const { [name]: _before, ...rest } = desk.drafts;
  const { [name]: _wrong, ...errors } = desk.errors;
  put({ errors, drafts: value === "" ? rest : { ...rest, [name]: value } });
}

/** @param {string} name @param {any} value @returns {any} as it is sent */
function plain(name, value) {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && NUMBERS.test(name) ? value.trim() : value;
}

/** @param {Part} part @returns {string[]} what was changed in a part */
export function changedIn(part) {
  return Object.keys(desk.drafts).filter((name) => OWNED[part].test(name));
}

/** @param {Part} part */
export function discard(part) {
  const mine = new Set(changedIn(part));
  put({
    drafts: without(desk.drafts, mine),
    errors: without(desk.errors, mine),
    added: part === "model" ? [] : desk.added,
    faults: { ...desk.faults, [part]: "" },
    clashes: { ...desk.clashes, [part]: [] },
  });
}

/**
 * @template T
 * @param {Record<string, T>} table
 * @param {Set<string>} names
 * @returns {Record<string, T>}
 */
function without(table, names) {
  return Object.fromEntries(Object.entries(table).filter(([name]) => !names.has(name)));
}

/** @param {Record<string, any>} drafts @returns {{set: Record<string, any>, unset: string[]}} */
function asSent(drafts) {
  /** @type {{set: Record<string, any>, unset: string[]}} */
  const sent = { set: {}, unset: [] };
  for (const [name, value] of Object.entries(drafts)) {
    const blank = value === REMOVED || (typeof value === "string" && !value.trim());
    if (blank) sent.unset.push(name);
    else if (typeof value !== "string") sent.set[name] = value;
    // What is no number is sent as it is, so that the server says what is wrong with it.
    else sent.set[name] = NUMBERS.test(name) && Number.isFinite(Number(value)) ? Number(value) : value.trim();
  }
  return sent;
}

/**
 * Save what was changed in a part, all of it or nothing.
 *
 * @param {Part} part
 * @returns {Promise<boolean>} whether it was saved
 */
export async function save(part) {
  const { data } = desk;
  const names = changedIn(part);
  if (!data || !names.length || desk.saving) return false;
  const drafts = Object.fromEntries(names.map((name) => [name, desk.drafts[name]]));
  put({ saving: part, faults: { ...desk.faults, [part]: "" }, clashes: { ...desk.clashes, [part]: [] } });
  try {
    const fresh = await call("PATCH", "/api/settings", { version: data.version, ...asSent(drafts) });
    saved(fresh, drafts);
    return true;
  } catch (error) {
    await notSaved(part, data, names, error);
    return false;
  } finally {
    put({ saving: null });
  }
}

/** @param {SettingsData} fresh @param {Record<string, any>} drafts those that were sent */
function saved(fresh, drafts) {
  // What was typed meanwhile is not saved.
  const done = new Set(Object.keys(drafts).filter((name) => desk.drafts[name] === drafts[name]));
  const known = new Set(fresh.models.map((model) => model.name));
  put({
    data: fresh,
    drafts: without(desk.drafts, done),
    errors: without(desk.errors, done),
    added: desk.added.filter((name) => !known.has(name)),
    saved: { count: desk.saved.count + 1, names: Object.keys(drafts) },
  });
  const names = (fresh.restart ?? []).map((name) => labelOf(name, fresh)).join(tr("comma"));
  const later = names ? tr("savedRestart", { names }) : tr("saved");
  toast(later);
  announce(null); // the chat page in another tab
}

/** @param {Part} part @param {SettingsData} before @param {string[]} names @param {unknown} error */
async function notSaved(part, before, names, error) {
  if (!refusedWith(error, 409)) {
    const fields = error instanceof ApiError ? error.fields : {};
    const errors = Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, one.message]));
    const elsewhere = Object.keys(errors).some((name) => !names.includes(name)) || !Object.keys(errors).length;
    const fault = elsewhere ? [tr("notSaved"), reasonOf(error)].join(tr("colon")) : "";
    put({ errors: { ...desk.errors, ...errors }, faults: { ...desk.faults, [part]: fault } });
    say(withLabels(fields, desk.data) || reasonOf(error));
    return;
  }
  await load();
  const { data } = desk;
  const other = data ? names.filter((name) => !alike(savedValue(before, name), savedValue(data, name))) : [];
  put({ clashes: { ...desk.clashes, [part]: other.length ? other : names } });
}

/** @param {any} one @param {any} other @returns {boolean} */
function alike(one, other) {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

/** @param {SettingsData} data @param {string} name @returns {Secret} */
export function secretOf(data, name) {
  const { set = false, source = null, variable = "" } = data.fields[name] ?? {};
  return { set, source, variable };
}

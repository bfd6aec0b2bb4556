/** Requests to our own server, the streams it sends, and how they fail. */
import { ROOT, recall, remember } from "./browser.js";
import { getLanguage } from "./i18n.js";
import { change } from "./store.js";

const TOKEN = "qiusuo.token";
const PATIENCE_MS = 20_000;
const SILENCE_MS = 45_000;

/** What the server refused, or why it could not be reached (`status` 0). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{error?: string, message?: string, fix?: string, retryAfter?: number, fields?: Record<string, {message: string}>, values?: Record<string, any>}} [body]
   */
  constructor(status, body = {}) {
    super(body.message || `HTTP ${status}`);
    this.status = status;
    this.kind = body.error || "";
    this.fix = body.fix || "";
    this.retryAfter = body.retryAfter ?? null;
    this.fields = body.fields ?? {};
    this.values = body.values ?? {};
  }
}

/** @param {unknown} error @param {number} status @returns {boolean} the server refused with this status */
export function refusedWith(error, status) {
  return error instanceof ApiError && error.status === status;
}

/** @param {string} token */
export function keepToken(token) {
  remember("sessionStorage", TOKEN, token);
}

/** @param {Record<string, string>} more */
export function headers(more) {
  const token = recall("sessionStorage", TOKEN);
  const all = { "Accept-Language": getLanguage(), ...more };
  return token ? { ...all, Authorization: `Bearer ${token}` } : all;
}

/**
 * @param {string} path
 * @param {RequestInit} options
 * @returns {Promise<Response>}
 */
export async function request(path, options) {
  let response;
  try {
    response = await fetch(ROOT + path, { cache: "no-store", ...options });
  } catch (error) {
    if (options.signal?.aborted && options.signal.reason?.name !== "TimeoutError") throw error;
    throw new ApiError(0);
  }
  if (response.ok) return response;
  if (wantsToken(response)) change({ locked: true });
  const body = await response.json().catch(() => ({}));
  throw new ApiError(wantsToken(response) ? 401 : response.status, body);
}

/** @param {Response} response @returns {boolean} no token, or a wrong one, perhaps one too many (429) */
function wantsToken(response) {
  return response.status === 401 || response.headers.has("WWW-Authenticate");
}

/**
 * Ask for JSON; its words are in the page's language.
 *
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export async function call(method, path, body) {
  const language = getLanguage();
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await request(path, {
    method,
    headers: headers(body === undefined ? {} : { "Content-Type": "application/json" }),
    signal: AbortSignal.timeout(PATIENCE_MS),
    ...sent,
  });
  const found = response.status === 204 ? null : await response.json();
  return method === "GET" && language !== getLanguage() ? call(method, path) : found;
}

/** @returns {Promise<any>} the state of searching; told with 503 when it is down */
export async function health() {
  const language = getLanguage();
  const response = await fetch(`${ROOT}/api/health`, {
    headers: headers({}),
    cache: "no-store",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const found = wantsToken(response) ? null : await response.json();
  return language === getLanguage() ? found : health();
}

/**
 * Open a stream of events: by a fetch, which unlike EventSource can send a token and a body.
 *
 * @param {"GET" | "POST"} method
 * @param {string} path
 * @param {{body?: object, after?: number, signal: AbortSignal}} options
 * @returns {Promise<Response>}
 */
export function openStream(method, path, { body, after = -1, signal }) {
  /** @type {Record<string, string>} */
  const named = { Accept: "text/event-stream" };
  if (body) named["Content-Type"] = "application/json";
  if (after >= 0) named["Last-Event-ID"] = String(after);
  return request(path, { method, headers: headers(named), body: body && JSON.stringify(body), signal });
}

/**
 * Keep an answer of the server as a file.
 *
 * @param {string} path
 * @param {string} name
 */
export async function download(path, name) {
  const response = await request(path, { headers: headers({}), signal: AbortSignal.timeout(PATIENCE_MS) });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  const called = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  link.download = called ? decodeURIComponent(called) : name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), PATIENCE_MS);
}

/** @param {string} session @param {string} [rest] */
export function sessionPath(session, rest = "") {
  return `/api/chat/sessions/${encodeURIComponent(session)}${rest}`;
}

/**
 * @typedef {object} ServerEvent
 * @property {number} id
 * @property {any} data
 */

/**
 * Give the events as they come, all those of one network read together.
 *
 * @param {Response} response
 * @returns {AsyncGenerator<ServerEvent[]>} ends with the stream; throws when it breaks or falls silent
 */
export async function* readEvents(response) {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read());
      if (done) return;
      const parts = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = parts.pop() ?? "";
      const events = parts.map(parse).filter((event) => event !== null);
      if (events.length) yield events;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * @template T
 * @param {Promise<T>} reading
 * @returns {Promise<T>}
 */
function withinSilence(reading) {
  /** @type {any} */
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("The stream has fallen silent.")), SILENCE_MS);
  });
  return Promise.race([reading, /** @type {Promise<T>} */ (silence)]).finally(() => clearTimeout(timer));
}

/** @param {string} text @returns {ServerEvent | null} null for comments */
function parse(text) {
  let id = -1;
  let data = "";
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("data:")) data += (data && "\n") + line.slice(line[5] === " " ? 6 : 5);
    else if (line.startsWith("id:")) id = Number(line.slice(3));
  }
  return data ? { id, data: JSON.parse(data) } : null;
}

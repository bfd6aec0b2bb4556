/** What the page knows, in one place. Components read it with `useStore`, controllers change it with `change`. */
import { recall, remember } from "./browser.js";
import { useLayoutEffect, useState } from "./vendor.js";

/** @import { Config, Finding, Kept, SessionInfo, Settings, Turn } from "./types.js" */

/**
 * @typedef {object} Toast
 * @property {number} id
 * @property {string} text
 * @property {"info" | "error"} level
 * @property {string} about
 *
 * @typedef {object} State
 * @property {Config | null} config
 * @property {Finding[]} findings what the doctor has to say
 * @property {boolean} healthy an engine can be asked
 * @property {SessionInfo[]} sessions
 * @property {Kept} kept how many there are
 * @property {string} query what is looked for in the history
 * @property {SessionInfo | null} current null: a new conversation, not yet known to the server
 * @property {Settings} settings those of the conversation, as far as known already changed
 * @property {boolean} saving a change of the settings is under way
 * @property {Turn[]} turns
 * @property {number} earlier turns before these, not yet fetched
 * @property {boolean} fetching they are being fetched
 * @property {boolean} loading a conversation is being fetched
 * @property {string | null} live the turn that is being followed
 * @property {boolean} lost the connection is being sought
 * @property {boolean} drawer the sidebar is open (phones)
 * @property {{turn: string, number: number} | null} beside the source that is open beside the text
 * @property {boolean} locked a token is needed
 * @property {boolean} away the card with what is still to be set up was put away
 * @property {string} said for screen readers
 * @property {Toast[]} toasts
 * @property {{Chips: () => any, list: import("./types.js").Chip[]} | null} files those of the conversation, and what shows them
 * @property {string} failed why the page could not start
 * @property {(() => string) | null} note what is said above an empty conversation
 */

/** @returns {Settings} */
export function defaultSettings() {
  return { mode: "chat", search: false, engine: null, results: 5, switch: "off" };
}

const AWAY = "qiusuo.start.away";

/** @type {State} */
let state = {
  config: null,
  findings: [],
  healthy: true,
  sessions: [],
  kept: { more: false, total: 0, most: Infinity, whenFull: "refuse", ofThisMachine: 0 },
  query: "",
  current: null,
  settings: defaultSettings(),
  saving: false,
  turns: [],
  earlier: 0,
  fetching: false,
  loading: false,
  live: null,
  lost: false,
  drawer: false,
  beside: null,
  locked: false,
  away: recall("localStorage", AWAY) === "yes",
  said: "",
  toasts: [],
  files: null,
  failed: "",
  note: null,
};

/** @type {Set<() => void>} */
const listeners = new Set();

export function getState() {
  return state;
}

/** @param {Partial<State>} changes */
export function change(changes) {
  state = { ...state, ...changes };
  for (const listener of [...listeners]) listener();
}

/** @param {boolean} away the card with what is to be set up */
export function putAway(away) {
  remember("localStorage", AWAY, away ? "yes" : "");
  change({ away });
}

/**
 * Read a part of the state; the component is drawn anew when that part changes.
 *
 * @template T
 * @param {(state: State) => T} pick
 * @returns {T}
 */
export function useStore(pick) {
  const value = pick(state);
  const [, redraw] = useState(0);
  useLayoutEffect(() => {
    let known = value;
    const look = () => {
      const now = pick(state);
      if (now !== known) {
        known = now;
        redraw((count) => count + 1);
      }
    };
    look();
    listeners.add(look);
    return () => void listeners.delete(look);
  });
  return value;
}

let toastCount = 0;

/** @param {string} text @param {"info" | "error"} [level] @param {string} [about] what it belongs to */
export function toast(text, level = "info", about = "") {
  const id = ++toastCount;
  // A confirmation makes way for the next one; errors stay.
  const kept = state.toasts.filter((one) => one.level === "error").slice(-2);
  change({ toasts: [...kept, { id, text, level, about }] });
  setTimeout(() => change({ toasts: state.toasts.filter((one) => one.id !== id) }), level === "error" ? 7000 : 2500);
}

/** @param {string} text read out by screen readers when it can be */
export function say(text) {
  if (text !== state.said) change({ said: text });
}

/** Puts the events of a turn together, as qiusuo.chat.events.folding.fold does on the server. */

/** @import { Turn } from "./types.js" */

/**
 * @param {string} id
 * @param {string} question
 * @param {Partial<Turn>} [more]
 * @returns {Turn}
 */
export function newTurn(id, question, more = {}) {
  return {
    id,
    question,
    mode: "chat",
    model: "",
    search: false,
    createdAt: "",
    state: "running",
    stage: null,
    answer: "",
    references: "",
    cited: [],
    finish: "",
    rounds: [],
    sources: [],
    readings: [],
    notices: [],
    check: null,
    usage: null,
    ...more,
  };
}

/**
 * Add an event to a turn (which is changed; its lists are made anew, so that components notice).
 *
 * @param {Turn} turn
 * @param {any} event
 */
export function fold(turn, event) {
  const { type, ...rest } = event;
  switch (type) {
    case "turn":
      Object.assign(turn, rest);
      break;
    case "model":
      Object.assign(turn, rest);
      break;
    case "related":
      turn.related = rest.questions;
      break;
    case "status":
      turn.stage = rest.stage;
      break;
    case "round":
      turn.rounds = replaced(turn.rounds, rest);
      for (const round of turn.rounds) round.since ??= Date.now();
      break;
    case "sources":
      for (const source of rest.sources) turn.sources = replaced(turn.sources, source);
      break;
    case "reading":
      turn.readings = replaced(turn.readings ?? [], rest);
      break;
    case "research":
      turn.research = rest;
      break;
    case "delta":
      turn.answer += rest.text;
      break;
    case "retraction":
      turn.answer = rest.answer;
      break;
    case "check":
      turn.check = rest;
      break;
    case "notice":
      turn.notices = [...turn.notices, rest];
      break;
    case "usage":
      turn.usage = rest;
      break;
    case "done":
      Object.assign(turn, rest, { stage: null });
      break;
    default: // of a later version
  }
}

/**
 * @template {{number: number}} T
 * @param {T[]} entries
 * @param {T} entry
 * @returns {T[]}
 */
function replaced(entries, entry) {
  const index = entries.findIndex((known) => known.number === entry.number);
  return index < 0 ? [...entries, entry] : entries.toSpliced(index, 1, { ...entries[index], ...entry });
}

/** One line per search: its words, its engine, what came of it, and on demand the receipt. */
import { html, memo } from "../html.js";
import { formatSeconds, listed, t, tOutcome } from "../i18n.js";
import { getState } from "../store.js";
import { send } from "../turns.js";
import { useEffect, useState } from "../vendor.js";
import { Icon } from "./icons.js";
import { engineInUse } from "./settings.js";

/** @import { Attempt, Round, Turn, TurnState } from "../types.js" */

const SLOW_MS = 1000;

/** @param {{turn: Turn, editable: boolean}} props `editable`: its search can be made again with other words */
export function Rounds({ turn, editable }) {
  const { rounds } = turn;
  if (!rounds.length) return null;
  const many = rounds.length > 1;
  const again = editable ? turn.id : "";
  const list = html`
    <ol class="rounds">
      ${rounds.map(
        (round) => html`
          <${RoundRow} key=${round.number} round=${round} before=${before(round, turn)} named=${many} ended=${turn.state} again=${again} />
        `,
      )}
    </ol>
  `;
  // Who waits sees each one; afterwards the answer matters, and what led to it is a line.
  if (turn.mode !== "agent" || turn.state === "running" || !many) return list;
  const found = new Set(rounds.flatMap((round) => round.numbers)).size;
  const failed = rounds.filter((round) => round.state === "failed").length;
  return html`
    <details class="searches">
      <summary>
        ${listed(t("roundsDone", { count: rounds.length }), t("found", { count: found }), failed > 0 && t("roundsFailed", { count: failed }))}
      </summary>
      ${list}
    </details>
  `;
}

/**
 * @param {Round} round
 * @param {Turn} turn
 * @returns {string} the engine whose results stand before those of the round's own, being no answer by themselves
 */
function before(round, turn) {
  const first = round.attempts.find((attempt) => attempt.outcome === "ok")?.engine;
  if (!first || !round.engine || first === round.engine) return "";
  const mine = turn.sources.filter((source) => round.numbers.includes(source.number));
  return mine.some((source) => source.card && source.engines.includes(first)) ? labelOf(first) : "";
}

const RoundRow = memo(
  /**
   * @param {{round: Round, before: string, named: boolean, ended: TurnState, again: string}} props `again`: the turn to
   *   ask anew
   */
  ({ round, before: first, named, ended, again }) => {
    const [open, setOpen] = useState(false);
    const [editing, setEditing] = useState(false);
    const editable = again && round.kind === "web_search";
    const left = ended === "stopped" ? "stopped" : ended === "running" ? "running" : "failed";
    const state = round.state === "running" ? left : round.state;
    return html`
      <li class=${`round ${state}`}>
        <div class="round-line">
          <span class="dot" aria-hidden="true"></span>
          <span class="round-what">
            ${named && html`<b>${t("round", { number: round.number })}</b> · `}${outcome(round, state, first)}
          </span>
          <q class="round-query" title=${round.query}>${round.query}</q>
          ${editable &&
          html`<button type="button" class="quiet edit-query" aria-label=${t("queryWords")} title=${t("queryWords")} aria-expanded=${editing ? "true" : "false"} onClick=${() => setEditing(!editing)}>
            <${Icon} name="edit" />
          </button>`}
          ${state === "running" && html`<${Elapsed} since=${round.since ?? Date.now()} />`}
          ${state !== "running" &&
          round.kind !== "search_files" &&
          html`<button type="button" class="quiet why" aria-label=${t("why")} aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>
            <span class="why-words">${t("why")}</span><${Icon} name="info" />
          </button>`}
        </div>
        ${open && html`<${Receipt} round=${round} first=${first} />`}
        ${editable && editing && html`<${QueryForm} query=${round.query} turn=${again} />`}
      </li>
    `;
  },
);

/** @param {Round} round @param {Round["state"] | "stopped"} state @param {string} first @returns {string} */
function outcome(round, state, first) {
  const page = round.kind === "fetch_page";
  const kinds = { regulationSearch: t("lawSearch"), caseSearch: t("caseSearch"), native: t("nativeSearch") };
  const kind = /** @type {Record<string, string>} */ (kinds)[round.kind] ?? "";
  const engine = round.engineLabel || round.engine || kind;
  switch (state) {
    case "running":
      return page ? t("reading") : t("searchingAt", { engine: engine || expected() });
    case "done":
      if (page) return t("pageRead");
      return listed([first, engine || t("searched")].filter(Boolean).join(" + "), t("found", { count: round.found }), mark(round));
    case "stopped":
      return listed(engine, t("stopped"));
    case "empty":
      return listed(engine, t("foundNothing"), mark(round));
    default:
      return listed(engine, page ? t("pageReadFailed") : t("searchFailed"));
  }
}

/** @returns {string} the engine that will be asked first */
function expected() {
  const { config, settings } = getState();
  return engineInUse(config, settings);
}

/** @param {Round} round */
function mark(round) {
  return round.stale ? t("stale") : round.cached ? listed(t("cached"), round.ago) : "";
}

/** @param {{since: number}} props */
function Elapsed({ since }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const ms = now - since;
  return html`<span class="elapsed">${ms >= SLOW_MS ? t("seconds", { count: Math.floor(ms / 1000) }) : ""}</span>`;
}

/** @param {{round: Round, first: string}} props */
function Receipt({ round, first }) {
  return html`
    <div class="receipt">
      ${round.asked && html`<p>${t("askedAs", { words: round.asked })}</p>`}
      ${round.reason && html`<p>${round.reason}</p>`} ${why(round, first) && html`<p>${why(round, first)}</p>`}
      ${round.numbers.length > 0 && html`<p>${t("sourcesCount", { count: round.numbers.map((number) => `[${number}]`).join(" ") })}</p>`}
      ${round.cached && html`<p>${t("receiptCached")}</p>`}
      ${round.attempts.length > 0
        ? html`<ol>${round.attempts.map((attempt) => html`<${AttemptRow} attempt=${attempt} />`)}</ol>`
        : !round.cached && html`<p>${t("receiptNone")}</p>`}
    </div>
  `;
}

/** What was searched for can be put better, and the answer made anew. @param {{query: string, turn: string}} props */
function QueryForm({ query, turn }) {
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const words = String(new FormData(form).get("query") ?? "").trim();
    const asked = getState().turns.find((known) => known.id === turn);
    if (words && asked) void send(asked.question, turn, words);
  };
  return html`
    <form class="requery" onSubmit=${submit}>
      <input name="query" type="text" maxlength="400" aria-label=${t("queryWords")} defaultValue=${query} />
      <button type="submit" class="quiet"><${Icon} name="retry" /><span>${t("searchAgain")}</span></button>
    </form>
  `;
}

/** @param {Round} round @param {string} first @returns {string} why it came to this engine, in a sentence */
function why(round, first) {
  const used = round.attempts.findIndex((attempt) => attempt.outcome === "ok");
  if (used < 0 || round.cached) return "";
  const engine = round.engineLabel || labelOf(round.attempts[used].engine);
  if (first) return t("receiptBesides", { first, engine });
  return t(used === 0 ? "receiptFirst" : "receiptLater", { engine, count: used });
}

/** @param {string} name @returns {string} */
function labelOf(name) {
  return getState().config?.engines.find((engine) => engine.name === name)?.label ?? name;
}

/** @param {number} ms @returns {string} */
function took(ms) {
  return ms < 1000 ? t("milliseconds", { count: Math.max(1, Math.round(ms)) }) : t("seconds", { count: formatSeconds(ms) });
}

/** @param {{attempt: Attempt}} props */
function AttemptRow({ attempt }) {
  const { engine, outcome: ended, ms, reason, fix, skipped, notes } = attempt;
  return html`
    <li>
      <b>${labelOf(engine)}</b> <span class=${`outcome ${ended}`}>${tOutcome(ended)}</span>
      <span class="ms">${skipped ? t("skipped") : took(ms)}</span>
      ${[reason, fix, ...(notes ?? [])].filter(Boolean).map((text) => html`<span class="told">${text}</span>`)}
    </li>
  `;
}

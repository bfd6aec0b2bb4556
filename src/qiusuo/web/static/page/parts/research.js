/** A research: its sub-questions one by one, how to go on with it, and how to take it along. */
import { download, sessionPath } from "../api.js";
import { html } from "../html.js";
import { formatSeconds, listed, t } from "../i18n.js";
import { messageOf } from "../failures.js";
import { getState, toast } from "../store.js";
import { goOn } from "../turns.js";
import { useEffect, useRef, useState } from "../vendor.js";
import { Icon } from "./icons.js";

/** @import { Amounts, Research, ResearchStep, Turn } from "../types.js" */

const ENDED = ["done", "empty", "failed"];

/** @param {Turn} turn @returns {boolean} it ended before it was finished */
export function canGoOn(turn) {
  const ended = turn.state === "stopped" || turn.state === "failed";
  return turn.mode === "research" && ended && turn.research?.stage !== "done";
}

/** @param {(Amounts & {questions: number}) | undefined} limits @returns {string} */
export function limitsLine(limits) {
  if (!limits) return "";
  const { questions, searches, pages, seconds } = limits;
  return t("researchLimits", { questions, searches, pages, minutes: Math.round((seconds / 60) * 10) / 10 });
}

/** @param {{turn: Turn}} props */
export function ResearchView({ turn }) {
  return turn.research ? html`<${Progress} turn=${turn} research=${turn.research} />` : null;
}

/** @param {{turn: Turn, research: Research}} props */
function Progress({ turn, research }) {
  const running = turn.state === "running";
  const { used, limits } = research;
  const seconds = useSeconds(research, running);
  return html`
    <section class="research" aria-label=${t("researchProgress")}>
      ${!research.steps.length && running && html`<p class="status"><span class="pulse" aria-hidden="true"></span>${t("researchPlanning")}…</p>`}
      <ol>
        ${research.steps.map((step) => html`<${StepRow} key=${step.number} step=${step} running=${running} />`)}
      </ol>
      <p class="research-used">
        ${t("researchUsed", {
          searches: `${used.searches}/${limits.searches}`,
          pages: `${used.pages}/${limits.pages}`,
          seconds: `${seconds}/${limits.seconds}`,
        })}
      </p>
    </section>
  `;
}

/** @param {Research} research @param {boolean} running @returns {number} the seconds it took; they go on between two events */
function useSeconds(research, running) {
  const [now, setNow] = useState(0);
  const since = useRef({ research, at: performance.now() });
  if (since.current.research !== research) since.current = { research, at: performance.now() };
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(performance.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  const more = running ? Math.max(0, now - since.current.at) : 0;
  return Math.min(research.used.seconds + Math.floor(more / 1000), research.limits.seconds);
}

/** @param {{step: ResearchStep, running: boolean}} props */
function StepRow({ step, running }) {
  const ended = ENDED.includes(step.state);
  const state = ended || running ? step.state : "waiting";
  const facts = listed(
    t(WORDS[state]),
    step.results > 0 && t("researchResults", { count: step.results }),
    step.pages > 0 && t("researchPages", { count: step.pages }),
    step.ms > 0 && t("seconds", { count: formatSeconds(step.ms) }),
  );
  return html`
    <li class=${`step ${state}`}>
      <span class="dot" aria-hidden="true"></span>
      <span class="step-question">${step.question}</span>
      <span class="step-facts">${facts}</span>
    </li>
  `;
}

const WORDS = /** @type {const} */ ({
  waiting: "stepWaiting",
  searching: "searching",
  reading: "reading",
  found: "stepFound",
  writing: "stepWriting",
  done: "stepDone",
  empty: "foundNothing",
  failed: "searchFailed",
});

/** @param {{turn: Turn, last: boolean, busy: boolean}} props */
export function ResearchButtons({ turn, last, busy }) {
  if (turn.mode !== "research") return null;
  /** @param {"md" | "html"} kind */
  const save = async (kind) => {
    const session = getState().current?.id;
    if (!session) return;
    const path = sessionPath(session, `/turns/${encodeURIComponent(turn.id)}/report.${kind}`);
    await download(path, `report.${kind}`).catch((error) => toast(messageOf(error), "error"));
  };
  return html`
    ${last &&
    !busy &&
    canGoOn(turn) &&
    html`<button type="button" class="quiet go-on" onClick=${() => void goOn(turn)}>
      <${Icon} name="forward" /><span>${t("goOn")}</span>
    </button>`}
    ${turn.answer &&
    html`<button type="button" class="quiet" onClick=${() => void save("md")}><${Icon} name="down" /><span>${t("asMarkdown")}</span></button>
      <button type="button" class="quiet" title=${t("asPageAbout")} onClick=${() => void save("html")}><${Icon} name="down" /><span>${t("asPage")}</span></button>`}
  `;
}

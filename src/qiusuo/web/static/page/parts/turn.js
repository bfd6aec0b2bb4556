/** One question with everything that came of it. */
import { html, memo } from "../html.js";
import { formatSeconds, listed, t } from "../i18n.js";
import { useLater } from "../load.js";
import { markupOf } from "../markdown.js";
import { useStore } from "../store.js";
import { send } from "../turns.js";
import { Answer } from "./answer.js";
import { CopyButton } from "./copy.js";
import { Icon, MoreButton } from "./icons.js";
import { NoticeView } from "./notice.js";
import { Question } from "./question.js";
import { Readings } from "./reading.js";
import { References } from "./references.js";
import { ResearchButtons, ResearchView } from "./research.js";
import { Rounds } from "./rounds.js";
import { Sources } from "./sources.js";

/** @import { Turn } from "../types.js" */

export const TurnView = memo(
  /** @param {{turn: Turn, index: number, later: number, busy: boolean}} props `busy`: some turn is being answered */
  ({ turn, index, later, busy }) => {
    const running = turn.state === "running";
    const titleId = `turn-${index}`;
    const focus = useLater(() => import("../later/focus.js"), Boolean(turn.scope));
    return html`
      <article class=${running ? "turn running" : "turn"} aria-labelledby=${titleId} data-turn=${turn.id}>
        <${Question} turn=${turn} titleId=${titleId} later=${later} busy=${busy} />
        ${focus && turn.scope && html`<${focus.ScopeLine} scope=${turn.scope} />`}
        <${ResearchView} turn=${turn} />
        ${turn.mode !== "research" && html`<${Rounds} turn=${turn} editable=${later === 0 && !busy && turn.mode === "chat"} />`}
        ${turn.mode !== "research" && html`<${Readings} readings=${turn.readings ?? []} ended=${turn.state} />`}
        ${turn.notices.map((notice, at) => html`<${NoticeView} key=${at} notice=${notice} fresh=${running} />`)}
        <${Sources} turn=${turn} />
        ${running && !turn.research && html`<${StatusLine} turn=${turn} />`}
        ${(turn.answer || !running) && html`<${Answer} turn=${turn} />`}
        ${!running && html`<${Ending} turn=${turn} last=${later === 0} busy=${busy} />`}
      </article>
    `;
  },
);

/** @param {{turn: Turn}} props */
function StatusLine({ turn }) {
  if (turn.answer) return null;
  const searching = turn.rounds.some((round) => round.state === "running");
  const reading = turn.stage === "reading" && turn.readings?.some((each) => !each.done);
  if (searching || reading) return null; // its row tells
  return html`
    <p class="status"><span class="pulse" aria-hidden="true"></span>${turn.stage ? t(turn.stage) : t("waiting")}…</p>
  `;
}

/** @param {{turn: Turn, last: boolean, busy: boolean}} props */
function Ending({ turn, last, busy }) {
  const several = useStore((state) => (state.config?.models?.length ?? 0) > 1);
  const full = turn.notices.some((notice) => notice.code === "turns_full");
  const open = last && !busy && !full;
  const choice = useLater(() => import("../later/models.js"), open && several);
  const whole = turn.references ? `${turn.answer}\n\n${turn.references}\n` : turn.answer;
  /** What leads to a card leads nowhere outside of the page. */
  const copied = whole.replace(/\[(\[\d+\])\]\(#file-[^)]+\)/g, "$1");
  const suggests = open && turn.state === "done" && Boolean(turn.related?.length);
  const related = useLater(() => import("../later/related.js"), suggests);
  const rating = useLater(() => import("../later/rating.js"), turn.state === "done" && Boolean(turn.answer));
  return html`
    ${turn.state === "stopped" && turn.finish !== "server_stopping" && html`<p class="hint">${t("stopped")}</p>`}
    ${turn.state === "failed" && !turn.notices.length && html`<p class="hint">${t("interrupted")}</p>`}
    ${turn.state === "done" && !turn.answer && html`<p class="hint">${t("emptyAnswer")}</p>`}
    ${isFromMemory(turn) && html`<p class="hint">${t("fromMemory")}</p>`}
    ${turn.finish === "length" && html`<p class="hint">${t("lengthCut")}</p>`}
    ${suggests && related && html`<${related.Related} questions=${turn.related} />`}
    <${References} markdown=${turn.references} sources=${turn.sources} />
    ${turn.mode === "research" && turn.rounds.length > 0 && html`<details class="searches"><summary>${t("researchSearches", { count: turn.rounds.length })}</summary><${Rounds} turn=${turn} editable=${false} /></details>`}
    <footer class="turn-foot">
      ${turn.answer && html`<${CopyButton} text=${copied} label=${t("copyAnswer")} markup=${() => markupOf(copied)} />`}
      <${ResearchButtons} turn=${turn} last=${last} busy=${busy} />
      ${open &&
      html`<button type="button" class="quiet" onClick=${() => void send(turn.question, turn.id, undefined, { research: turn.mode === "research" })}>
        <${Icon} name="retry" /><span>${t("retry")}</span>
      </button>`}
      ${open && several && choice && html`<${choice.AgainWith} turn=${turn} />`}
      ${turn.answer && html`<${MoreButton} turn=${turn.id} label=${t("shareAnswer")} />`}
      ${rating && html`<${rating.Rating} turn=${turn} />`}
      <${Verdicts} turn=${turn} />
      <span class="usage">${usage(turn)}</span>
    </footer>
  `;
}

/** @param {{turn: Turn}} props */
function Verdicts({ turn }) {
  const counts = turn.check?.report?.counts;
  if (!counts || turn.model === "extractive") return null; // an excerpt always agrees with itself
  const kinds = /** @type {const} */ (["supported", "weak", "not_found"]);
  const some = kinds.filter((kind) => counts[kind] > 0);
  if (!some.length) return null;
  return html`
    <span class="verdicts" role="group" aria-label=${t("checked")}>
      ${some.map((kind) => html`<span key=${kind} class=${`verdict ${kind}`}>${t(kind)} ${counts[kind]}</span>`)}
    </span>
  `;
}

/** @param {Turn} turn @returns {boolean} an agent may search, and this one did not */
function isFromMemory({ mode, state, answer, rounds, references, notices, model }) {
  if (mode !== "agent" || state !== "done" || !answer || model === "extractive") return false;
  return !rounds.length && !references && !notices.length;
}

/** @param {Turn} turn @returns {string} */
function usage(turn) {
  const model = listed(turn.called, turn.model === "extractive" ? t("excerpts") : turn.model);
  if (!turn.usage) return model;
  const { totalMs, searches, outputTokens } = turn.usage;
  return listed(
    model,
    t("seconds", { count: formatSeconds(totalMs) }),
    searches > 0 && t("usageSearches", { count: searches }),
    outputTokens !== null && outputTokens > 0 && t("usageTokens", { count: outputTokens }),
  );
}

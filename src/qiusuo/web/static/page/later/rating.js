/** What the reader thinks of an answer: kept on this server for who runs it. */
import { call, sessionPath } from "../api.js";
import { messageOf } from "../failures.js";
import { html } from "../html.js";
import { IconButton } from "../parts/icons.js";
import { change, getState, say, toast } from "../store.js";
import { useEffect, useRef, useState } from "../vendor.js";
import { tr } from "./tr.js";
import { loadStyle } from "./style.js";

/** @import { Turn } from "../types.js" */
/** @typedef {NonNullable<Turn["feedback"]>} Feedback */

/** The server's names of the reasons, and our words for them. */
const REASONS = /** @type {const} */ ([
  ["wrong", "why_wrong"],
  ["incomplete", "why_incomplete"],
  ["sources", "why_sources"],
  ["outdated", "why_outdated"],
  ["unclear", "why_unclear"],
  ["slow", "why_slow"],
]);
const LONGEST = 1000;

/** @param {{turn: Turn}} props */
export function Rating({ turn }) {
  const [asking, setAsking] = useState(false);
  /** @type {{current: HTMLSpanElement | null}} */
  const box = useRef(null);
  useEffect(() => void loadStyle("daily.css"), []);
  const verdict = turn.feedback?.verdict;
  /** @param {Feedback | undefined} given */
  const keep = async (given) => {
    const session = getState().current?.id;
    if (!session) return false;
    try {
      await call("POST", sessionPath(session, `/turns/${encodeURIComponent(turn.id)}/feedback`), given ?? { verdict: null });
    } catch (error) {
      toast(messageOf(error), "error");
      return false;
    }
    change({ turns: getState().turns.map((one) => (one.id === turn.id ? { ...one, feedback: given } : one)) });
    say(tr(given ? "thanked" : "takenBack"));
    return true;
  };
  /** @param {"good" | "bad"} chosen */
  const rate = async (chosen) => {
    const again = verdict === chosen;
    if ((await keep(again ? undefined : { verdict: chosen, reasons: [], text: "" })) && chosen === "bad") setAsking(!again);
    else setAsking(false);
  };
  const end = () => {
    setAsking(false);
    box.current?.querySelectorAll("button")[1]?.focus();
  };
  return html`
    <span class="rating" role="group" aria-label=${tr("rating")} ref=${box}>
      <${IconButton} icon="good" label=${tr("good")} aria-pressed=${verdict === "good" ? "true" : "false"} onClick=${() => void rate("good")} />
      <${IconButton} icon="bad" label=${tr("bad")} aria-pressed=${verdict === "bad" ? "true" : "false"} onClick=${() => void rate("bad")} />
    </span>
    ${asking && html`<${Why} keep=${keep} onEnd=${end} />`}
  `;
}

/** @param {{keep: (given: Feedback) => Promise<boolean>, onEnd: () => void}} props */
function Why({ keep, onEnd }) {
  /** @type {{current: HTMLFormElement | null}} */
  const form = useRef(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  /** @param {Event} event */
  const send = async (event) => {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (form.current));
    const given = { verdict: /** @type {const} */ ("bad"), reasons: data.getAll("reason").map(String), text: String(data.get("text") ?? "").trim() };
    if (!(await keep(given))) return;
    toast(tr("thanked"));
    onEnd();
  };
  return html`
    <form class="rating-why" ref=${form} onSubmit=${send} onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Escape" && (event.preventDefault(), onEnd())}>
      <fieldset>
        <legend>${tr("why")}</legend>
        ${REASONS.map(([reason, words]) => html`<label key=${reason}><input type="checkbox" name="reason" value=${reason} /> ${tr(words)}</label>`)}
      </fieldset>
      <label class="unseen" for="why-text">${tr("whyMore")}</label>
      <textarea id="why-text" name="text" rows="2" dir="auto" maxlength=${LONGEST} placeholder=${tr("whyMore")}></textarea>
      <p class="hint">${tr("whyKept")}</p>
      <p class="edit-buttons">
        <button type="button" onClick=${onEnd}>${tr("close")}</button>
        <button type="submit" class="primary">${tr("whySend")}</button>
      </p>
    </form>
  `;
}

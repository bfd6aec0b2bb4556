/** What was asked; it can be edited and asked again. */
import { isComposing, isSending } from "../browser.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { useLater } from "../load.js";
import { useStore } from "../store.js";
import { send } from "../turns.js";
import { useEffect, useRef, useState } from "../vendor.js";
import { IconButton } from "./icons.js";

/** @import { Turn } from "../types.js" */

/** @param {{turn: Turn, titleId: string, later: number, busy: boolean}} props `later`: how many turns stand after it */
export function Question({ turn, titleId, later, busy }) {
  const [editing, setEditing] = useState(false);
  /** @type {{current: HTMLDivElement | null}} */
  const box = useRef(null);
  const back = useRef(false);
  const branches = useStore((state) => state.current?.branches)?.filter((branch) => branch.turn === turn.id);
  const kin = useLater(() => import("../later/branch.js"), Boolean(branches?.length));
  useEffect(() => {
    if (!editing && back.current) box.current?.querySelector("button")?.focus();
    back.current = editing;
  }, [editing]);
  if (editing) return html`<${EditForm} turn=${turn} later=${later} busy=${busy} onEnd=${() => setEditing(false)} />`;
  return html`
    <div class="question" ref=${box}>
      ${!busy && html`<${IconButton} icon="edit" label=${t("edit")} onClick=${() => setEditing(true)} />`}
      <h2 id=${titleId} class="bubble" dir="auto"><span class="unseen" dir="ltr">${t("question")}: </span>${turn.question}</h2>
    </div>
    ${kin && html`<${kin.Branches} branches=${branches} />`}
  `;
}

/** @param {{turn: Turn, later: number, busy: boolean, onEnd: () => void}} props */
function EditForm({ turn, later, busy, onEnd }) {
  /** @type {{current: HTMLTextAreaElement | null}} */
  const field = useRef(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(turn.question.length, turn.question.length);
  }, []);
  /** @param {Event} [event] */
  const resend = (event) => {
    event?.preventDefault();
    const text = field.current?.value.trim();
    if (!text || busy) return;
    if (later > 0) return void import("../later/branch.js").then(({ branchAt }) => branchAt(turn, text, onEnd));
    onEnd();
    void send(text, turn.id, undefined, { research: turn.mode === "research" });
  };
  /** @param {KeyboardEvent} event */
  const keys = (event) => {
    if (event.key === "Escape" && !isComposing(event)) event.preventDefault(), onEnd();
    if (isSending(event)) resend(event);
  };
  return html`
    <form class="edit" onSubmit=${resend}>
      <textarea dir="auto" ref=${field} aria-label=${t("edit")} rows="3" defaultValue=${turn.question} onKeyDown=${keys}></textarea>
      ${later > 0 && html`<p class="hint">${t("editBranches")}</p>`}
      <p class="edit-buttons">
        <button type="button" onClick=${onEnd}>${t("no")}</button>
        <button type="submit" class="primary" disabled=${busy}>${t("resend")}</button>
      </p>
    </form>
  `;
}

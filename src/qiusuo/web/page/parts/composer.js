/** Where questions are written. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { useStore } from "../store.js";
import { send, stop } from "../turns.js";
import { useLayoutEffect, useRef, useState } from "../vendor.js";
import { Icon } from "./icons.js";

const DRAFT = "qiusuo.draft";
const TALLEST = 200;
const USUAL_LIMIT = 8000;

export function Composer() {
  const live = useStore((state) => state.live);
  const lost = useStore((state) => state.lost);
  const max = useStore((state) => state.config?.limits?.maxQuestion ?? USUAL_LIMIT);
  const [text, setText] = useState(() => sessionStorage.getItem(DRAFT) ?? "");
  /** @type {{current: HTMLTextAreaElement | null}} */
  const field = useRef(null);
  const running = live !== null;
  const question = text.trim();
  const tooLong = question.length > max;

  /** @param {string} words */
  const write = (words) => {
    setText(words);
    sessionStorage.setItem(DRAFT, words);
  };
  useLayoutEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, TALLEST)}px`;
  }, [text]);

  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (!question || tooLong || running) return;
    write("");
    if (!(await send(question))) write(question);
    field.current?.focus();
  };
  /** @param {KeyboardEvent} event */
  const keys = (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) void submit(event);
  };
  return html`
    <form class="composer" onSubmit=${submit}>
      ${lost && html`<p class="lost" role="status">${t("reconnecting")}</p>`}
      ${tooLong && html`<p class="lost" role="alert">${t("tooLong", { max, count: question.length })}</p>`}
      <div class="composer-box">
        <label class="unseen" for="question">${t("askLabel")}</label>
        <textarea
          id="question"
          ref=${field}
          rows="1"
          placeholder=${t("ask")}
          value=${text}
          onInput=${(/** @type {{currentTarget: HTMLTextAreaElement}} */ event) => write(event.currentTarget.value)}
          onKeyDown=${keys}
        ></textarea>
        ${running
          ? html`<button type="button" key="stop" class="round-button stop" aria-label=${t("stop")} title=${t("stop")} onClick=${() => void stop()}>
              <${Icon} name="stop" />
            </button>`
          : html`<button type="submit" key="send" class="round-button" aria-label=${t("send")} title=${t("send")} disabled=${!question || tooLong}>
              <${Icon} name="send" />
            </button>`}
      </div>
    </form>
  `;
}

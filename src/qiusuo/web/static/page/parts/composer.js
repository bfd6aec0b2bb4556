/** Where questions are written. */
import { isSending, recall, remember } from "../browser.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { useLater } from "../load.js";
import { focusQuestion } from "../sessions.js";
import { toast, useStore } from "../store.js";
import { send, stop } from "../turns.js";
import { useLayoutEffect, useRef, useState } from "../vendor.js";
import { FileButton, Files, filesRead } from "./attach.js";
import { Icon, IconButton } from "./icons.js";
import { limitsLine } from "./research.js";

const DRAFT = "qiusuo.draft";
const TALLEST = 200;
const USUAL_LIMIT = 8000;
const WEB = "web";
/** As in the terminal: "/etc/hosts" is a question. */
const COMMAND = /^\/([a-z]*|\?)(\s|$)/i;

/** @param {string} text @returns {number} as the server counts: characters beyond the first plane are one, not two */
function lengthOf(text) {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

export function Composer() {
  const live = useStore((state) => state.live);
  const lost = useStore((state) => state.lost);
  const max = useStore((state) => state.config?.limits?.maxQuestion ?? USUAL_LIMIT);
  const limits = useStore((state) => state.config?.research);
  const several = useStore((state) => (state.config?.models?.length ?? 0) > 1);
  const [research, setResearch] = useState(false);
  const [focusing, setFocusing] = useState(false);
  const [once, setOnce] = useState(/** @type {string | null} */ (null));
  const [text, setText] = useState(() => recall("sessionStorage", DRAFT) ?? "");
  /** @type {{current: HTMLTextAreaElement | null}} */
  const field = useRef(null);
  const commands = COMMAND.test(text);
  const slash = useLater(() => import("../later/slash.js"), commands);
  const choice = useLater(() => import("../later/models.js"), several);
  const narrowed = useStore(({ settings: { focus = WEB, sites, freshness } }) => focus !== WEB || Boolean(sites?.length || freshness));
  const focus = useLater(() => import("../later/focus.js"), narrowed || focusing);
  const running = live !== null;
  const question = text.trim();
  const length = lengthOf(question);
  const tooLong = length > max;

  /** @param {string} words */
  const write = (words) => {
    setText(words);
    remember("sessionStorage", DRAFT, words);
  };
  useLayoutEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, TALLEST)}px`;
  }, [text]);

  /** @param {Event} event @param {boolean} [asIs] a question, also where it looks like a command */
  const submit = async (event, asIs = false) => {
    event.preventDefault();
    if (commands && !asIs) {
      return import("../later/slash.js").then(({ run }) => run(text, write)).catch(() => toast(t("cannotStart"), "error"));
    }
    if (!question || tooLong || running || !(await filesRead())) return;
    write("");
    setResearch(false);
    setOnce(null);
    focusQuestion();
    const how = { research, ...(once !== null && { model: once }) };
    // What was not taken comes back, unless something else has been written since.
    if ((await send(question, undefined, undefined, how)) || field.current?.value) return;
    write(text);
    setResearch(research);
    setOnce(once);
  };
  /** @param {KeyboardEvent} event */
  const keys = (event) => {
    if (isSending(event)) void submit(event, event.ctrlKey || event.metaKey);
  };
  return html`
    <form class="composer" onSubmit=${submit}>
      ${lost && html`<p class="lost" role="status">${t("reconnecting")}</p>`}
      ${tooLong && html`<p class="lost" role="alert">${t("tooLong", { max, count: length })}</p>`}
      ${research && html`<p class="research-limits" role="status">${limitsLine(limits)}</p>`}
      ${slash && commands && html`<${slash.Commands} text=${text} write=${write} field=${field.current} />`}
      ${focus && (focusing || narrowed) && html`<${focus.FocusBar} open=${focusing} />`}
      <${Files} />
      <div class="composer-box">
        <${FileButton} />
        ${limits &&
        html`<button type="button" class="quiet research-toggle" aria-pressed=${research ? "true" : "false"} aria-label=${t("research")} title=${limitsLine(limits)} onClick=${() => setResearch(!research)}>
          <${Icon} name="layers" /><span>${t("research")}</span>
        </button>`}
        <${IconButton} class="quiet research-toggle" icon="focus" label=${t("focus")} aria-expanded=${focusing ? "true" : "false"} onClick=${() => setFocusing(!focusing)} />
        <label class="unseen" for="question">${t("question")}</label>
        <textarea
          id="question"
          ref=${field}
          rows="1"
          dir=${tooLong ? undefined : "auto"}
          placeholder=${t("ask")}
          value=${text}
          onInput=${(/** @type {{currentTarget: HTMLTextAreaElement}} */ event) => write(event.currentTarget.value)}
          onKeyDown=${keys}
        ></textarea>
        ${running
          ? html`<${IconButton} key="stop" class="round-button stop" icon="stop" label=${t("stop")} onClick=${() => void stop()} />`
          : html`<${IconButton} key="send" type="submit" class="round-button" icon="send" label=${t("send")} disabled=${!question || tooLong} />`}
      </div>
      ${choice && several && html`<${choice.ModelPicker} once=${once} onOnce=${setOnce} />`}
    </form>
  `;
}

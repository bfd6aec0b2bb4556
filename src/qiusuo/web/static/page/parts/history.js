/** Former conversations: looked for, opened, renamed, deleted. */
import { isComposing } from "../browser.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { moreHistory, remove, rename, searchHistory } from "../sessions.js";
import { change, getState, useStore } from "../store.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor.js";
import { Icon, IconButton, MoreButton } from "./icons.js";
import { docLink } from "./notice.js";

/** @import { SessionInfo } from "../types.js" */

const TYPING_PAUSE_MS = 200;
const NEARLY_FULL = 0.95;

export function History() {
  const sessions = useStore((state) => state.sessions);
  const current = useStore((state) => state.current?.id ?? "");
  const query = useStore((state) => state.query);
  const kept = useStore((state) => state.kept);
  // The list may be a moment older than what this page has seen end.
  const live = useStore((state) => state.live !== null);
  // What has no title has no question yet.
  const shown = sessions.filter((session) => session.title || session.id === current);
  return html`
    <nav class="history" aria-labelledby="history-title">
      <div class="history-head"><h2 id="history-title">${t("history")}</h2><${MoreButton} label=${t("shareAll")} /></div>
      <${Find} />
      <${Fullness} kept=${kept} />
      ${shown.length === 0 && html`<p class="hint">${query ? t("noHits") : t("noHistory")}</p>`}
      ${shown.length === 0 && kept.ofThisMachine > 0 && html`<p class="hint">${t("beforeTokens", { count: kept.ofThisMachine })} <a href=${docLink("/docs/sharing#before-tokens")} target="_blank">${t("readDocs")}</a></p>`}
      <ul>
        ${shown.map((session) => {
          const mine = session.id === current;
          const running = mine ? live : session.running !== null;
          return html`<${Entry} key=${session.id} session=${session} current=${mine} running=${running} />`;
        })}
      </ul>
      ${kept.more && html`<button type="button" class="quiet" onClick=${moreHistory}>${t("moreHistory")}</button>`}
    </nav>
  `;
}

/** Tells before anything is refused or deleted. @param {{kept: import("../types.js").Kept}} props */
function Fullness({ kept: { total, most, whenFull } }) {
  if (total < most * NEARLY_FULL) return null;
  const next = t(whenFull === "refuse" ? (total < most ? "fullRefuses" : "historyFull") : "fullDeletes");
  return html`<p class="hint" role="status">${t("historyNear", { total, most })} ${next}</p>`;
}

function Find() {
  const [text, setText] = useState(getState().query);
  useEffect(() => {
    if (text.trim() === getState().query) return;
    const timer = setTimeout(() => searchHistory(text.trim()), text ? TYPING_PAUSE_MS : 0);
    return () => clearTimeout(timer);
  }, [text]);
  return html`
    <label class="find">
      <${Icon} name="find" />
      <span class="unseen">${t("searchHistory")}</span>
      <input
        type="search"
        placeholder=${t("searchHistory")}
        value=${text}
        onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => setText(event.currentTarget.value)}
      />
    </label>
  `;
}

/** @param {{session: SessionInfo, current: boolean, running: boolean}} props */
function Entry({ session, current, running }) {
  const [doing, setDoing] = useState(/** @type {"" | "rename" | "remove"} */ (""));
  const title = session.title || t("untitled");
  /** @type {{current: HTMLLIElement | null}} */
  const row = useRef(null);
  const was = useRef("");
  useEffect(() => {
    // The keyboard goes on where it left off.
    const button = was.current && !doing && row.current?.querySelector(was.current);
    if (button instanceof HTMLElement) button.focus();
    was.current = doing && `.${doing}`;
  }, [doing]);
  const back = () => setDoing("");
  /** @param {"rename" | "remove"} what @param {string} icon */
  const choice = (what, icon) => html`
    <${IconButton}
      class=${`quiet ${what}`}
      icon=${icon}
      label=${`${t(what)}: ${title}`}
      title=${t(what)}
      onClick=${() => setDoing(what)}
    />
  `;
  if (doing === "rename") return html`<li><${RenameForm} session=${session} onEnd=${back} /></li>`;
  return html`
    <li ref=${row} class=${current ? "current" : ""}>
      <a href=${`#/s/${session.id}`} aria-current=${current ? "page" : undefined} onClick=${() => change({ drawer: false })}>
        ${running && html`<span class="pulse" role="img" aria-label=${t("answering")}></span>`}
        <span class="title" dir="auto">${title}</span>
      </a>
      ${doing === "remove"
        ? html`<${RemoveQuestion} session=${session} title=${title} onEnd=${back} />`
        : html`
            <span class="entry-buttons">
              ${choice("rename", "edit")} ${choice("remove", "trash")}
              <${MoreButton} session=${session.id} label=${`${t("share")}: ${title}`} title=${t("share")} />
            </span>
          `}
    </li>
  `;
}

/** Escape ends what was begun, not also the drawer around it. @param {KeyboardEvent} event @param {() => void} onEnd */
function endedBy(event, onEnd) {
  if (event.key !== "Escape" || isComposing(event)) return;
  event.stopPropagation();
  onEnd();
}

/** @param {{session: SessionInfo, onEnd: () => void}} props */
function RenameForm({ session, onEnd }) {
  /** @type {{current: HTMLInputElement | null}} */
  const input = useRef(null);
  useLayoutEffect(() => input.current?.select(), []);
  /** @param {Event} event */
  const save = (event) => {
    event.preventDefault();
    const title = input.current?.value.trim();
    if (title && title !== session.title) void rename(session.id, title);
    onEnd();
  };
  return html`
    <form class="rename-form" onSubmit=${save}>
      <input
        ref=${input}
        aria-label=${t("renameTo")}
        defaultValue=${session.title}
        maxlength="200"
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => endedBy(event, onEnd)}
      />
      <button type="submit">${t("save")}</button>
    </form>
  `;
}

/** @param {{session: SessionInfo, title: string, onEnd: () => void}} props */
function RemoveQuestion({ session, title, onEnd }) {
  /** @type {{current: HTMLButtonElement | null}} */
  const yes = useRef(null);
  useLayoutEffect(() => yes.current?.focus(), []);
  return html`
    <span
      class="entry-ask"
      role="group"
      aria-label=${`${t("removeAsk")} ${title}`}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => endedBy(event, onEnd)}
    >
      <button ref=${yes} type="button" class="danger" onClick=${() => void remove(session.id)}>${t("remove")}</button>
      <button type="button" onClick=${onEnd}>${t("no")}</button>
    </span>
  `;
}

/** The turns. Stays at the end of the last answer while it grows, unless the reader has scrolled elsewhere. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { useLater } from "../load.js";
import { loadEarlier } from "../sessions.js";
import { useStore } from "../store.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor.js";
import { IconButton } from "./icons.js";
import { TurnView } from "./turn.js";
import { Welcome } from "./welcome.js";

/** So far from the end the reader is still taken along. */
const NEAR = 60;
/** What is seen of the list under an answer: its heading, and about as much as stood there while the answer grew. */
const PEEK = 44;
/** Places are rounded differently from sizes. */
const ROUNDING = 2;

export function Conversation() {
  const turns = useStore((state) => state.turns);
  const live = useStore((state) => state.live);
  const loading = useStore((state) => state.loading);
  const earlier = useStore((state) => state.earlier);
  const fetching = useStore((state) => state.fetching);
  const current = useStore((state) => state.current?.id ?? "");
  /** @type {{current: HTMLDivElement | null}} */
  const box = useRef(null);
  /** @type {{current: HTMLDivElement | null}} */
  const content = useRef(null);
  const atEnd = useRef(true);
  const [away, setAway] = useState(false);

  const filled = useRef(false);
  filled.current = turns.length > 0;
  const toEnd = () => {
    // What can be asked is read from its beginning.
    if (box.current && content.current) box.current.scrollTop = filled.current ? endOf(box.current, content.current) : 0;
  };
  useEffect(() => {
    if (!box.current || !content.current) return;
    const [scroller, column] = [box.current, content.current];
    let sizes = "";
    const look = () => {
      const missing = endOf(scroller, column) - scroller.scrollTop;
      // Who has gone on to the sources is not fetched back.
      atEnd.current = missing < NEAR && missing > -ROUNDING;
      setAway(filled.current && missing >= NEAR);
    };
    const scrolled = () => {
      // With other sizes it was the browser that scrolled, and `grown` comes next.
      if (sizes !== sizesOf(scroller, column)) return;
      look();
      if (scroller.scrollTop < NEAR) void loadEarlier();
    };
    const grown = new ResizeObserver(() => {
      sizes = sizesOf(scroller, column);
      if (!atEnd.current) return look();
      toEnd();
      setAway(false);
    });
    grown.observe(column, { box: "border-box" });
    grown.observe(scroller);
    scroller.addEventListener("scroll", scrolled, { passive: true });
    return () => {
      grown.disconnect();
      scroller.removeEventListener("scroll", scrolled);
    };
  }, []);
  useEffect(() => {
    // Only now there is something to print.
    if (filled.current) void import("../later/style.js").then(({ loadStyle }) => loadStyle("print.css"));
  }, [turns.length > 0]);
  const before = useRef({ current, earlier, below: 0 });
  if (box.current && current === before.current.current && earlier < before.current.earlier) {
    before.current.below = box.current.scrollHeight - box.current.scrollTop;
  }
  useLayoutEffect(() => {
    const { below } = before.current;
    before.current = { current, earlier, below: 0 };
    // What came above must not move what is being read.
    atEnd.current = !below;
    if (below && box.current) box.current.scrollTop = box.current.scrollHeight - below;
    // A new question, or another conversation, is what the reader wants to see.
    else toEnd();
  }, [turns.length, current, loading, earlier]);
  const more = async () => {
    await loadEarlier();
    box.current?.focus(); // the button may be gone
  };

  const origin = useStore((state) => state.current?.branchedFrom);
  const kin = useLater(() => import("../later/branch.js"), Boolean(origin));
  const empty = turns.length === 0 && !loading;
  return html`
    <div class="scroller" ref=${box} tabindex="0" role="region" aria-label=${t("conversation")}>
      <div class="column" ref=${content}>
        ${empty && html`<${Welcome} />`}
        ${kin && origin && html`<${kin.Origin} origin=${origin} />`}
        ${earlier > 0 &&
        html`<button type="button" class="quiet earlier" disabled=${fetching} onClick=${more}>
          ${t("earlier", { count: earlier })}
        </button>`}
        ${turns.map(
          (turn, index) => html`
            <${TurnView} key=${`${current}:${earlier + index}`} turn=${turn} index=${earlier + index} later=${turns.length - 1 - index} busy=${live !== null} />
          `,
        )}
      </div>
    </div>
    ${away && html`<${IconButton} class="latest" icon="down" label=${t("latest")} onClick=${toEnd} />`}
  `;
}

/** @param {HTMLElement} scroller @param {HTMLElement} column */
function sizesOf(scroller, column) {
  return `${scroller.clientHeight} ${column.offsetWidth} ${column.offsetHeight}`;
}

/**
 * @param {HTMLElement} scroller
 * @param {HTMLElement} column
 * @returns {number} where it is scrolled to when the end of the last answer is seen; a long list under it must not push
 *   it out of the window
 */
function endOf(scroller, column) {
  const last = scroller.scrollHeight - scroller.clientHeight;
  const added = [...(column.lastElementChild?.children ?? [])].find((part) => part.matches(".references"));
  if (!added) return last;
  const top = added.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
  return Math.max(0, Math.min(last, top + PEEK - scroller.clientHeight));
}

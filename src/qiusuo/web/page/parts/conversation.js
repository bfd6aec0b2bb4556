/** The turns. Stays at the end while an answer grows, unless the reader has scrolled up. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { useStore } from "../store.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor.js";
import { IconButton } from "./icons.js";
import { TurnView } from "./turn.js";
import { Welcome } from "./welcome.js";

const NEAR = 60;

export function Conversation() {
  const turns = useStore((state) => state.turns);
  const live = useStore((state) => state.live);
  const loading = useStore((state) => state.loading);
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
    if (box.current) box.current.scrollTop = filled.current ? box.current.scrollHeight : 0;
  };
  useEffect(() => {
    if (!box.current || !content.current) return;
    const scroller = box.current;
    const look = () => {
      atEnd.current = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
      setAway(filled.current && !atEnd.current);
    };
    const grown = new ResizeObserver(() => (atEnd.current ? toEnd() : look()));
    grown.observe(content.current);
    grown.observe(scroller);
    scroller.addEventListener("scroll", look, { passive: true });
    return () => {
      grown.disconnect();
      scroller.removeEventListener("scroll", look);
    };
  }, []);
  // A new question, or another conversation, is what the reader wants to see.
  useLayoutEffect(() => {
    atEnd.current = true;
    toEnd();
  }, [turns.length, current, loading]);

  const empty = turns.length === 0 && !loading;
  return html`
    <div class="scroller" ref=${box} tabindex="0" role="region" aria-label=${t("conversation")}>
      <div class="column" ref=${content}>
        ${empty && html`<${Welcome} />`}
        ${turns.map(
          (turn, index) => html`
            <${TurnView} key=${`${current}:${index}`} turn=${turn} index=${index} later=${turns.length - 1 - index} busy=${live !== null} />
          `,
        )}
      </div>
    </div>
    ${away && html`<${IconButton} class="latest" icon="down" label=${t("latest")} onClick=${toEnd} />`}
  `;
}

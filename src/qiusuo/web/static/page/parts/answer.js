/** The text of an answer with its citations. As it grows, finished blocks are drawn once. */
import { splitBlocks } from "../blocks.js";
import { markCitations } from "../citations.js";
import { html, memo } from "../html.js";
import { renderMarkdown } from "../markdown.js";
import { useLayoutEffect, useMemo, useRef } from "../vendor.js";
import { CitationCards } from "./citecard.js";
import { copy } from "./copy.js";

/** @import { Turn } from "../types.js" */

/** @param {{turn: Turn}} props */
export function Answer({ turn }) {
  /** @type {{current: HTMLDivElement | null}} */
  const box = useRef(null);
  const growing = turn.state === "running";
  useLayoutEffect(() => {
    if (box.current && !growing) markCitations(box.current, turn);
  });
  /** @param {MouseEvent} event */
  const click = (event) => {
    const button = /** @type {Element} */ (event.target).closest(".code-copy");
    const code = button?.closest(".code")?.querySelector("pre")?.textContent;
    if (code) void copy(code);
  };
  return html`
    <div class="answer" ref=${box} onClick=${click}><${Markdown} text=${turn.answer} growing=${growing} /></div>
    <${CitationCards} root=${box} turn=${turn} />
  `;
}

const BlockView = memo(
  /** @param {{text: string, level: number, growing: boolean}} props */
  ({ text, level, growing }) => {
    /** @type {{current: HTMLDivElement | null}} */
    const box = useRef(null);
    useLayoutEffect(() => {
      box.current?.replaceChildren(renderMarkdown(text, { level, growing }));
    }, [text, level, growing]);
    return html`<div class="block" dir="auto" ref=${box}></div>`;
  },
);

/** @param {{text: string, growing?: boolean}} props */
export function Markdown({ text, growing = false }) {
  const blocks = useMemo(() => splitBlocks(text), [text]);
  const last = blocks.length - 1;
  return blocks.map(
    (block, index) => html`
      <${BlockView} key=${index} text=${block.text} level=${block.level} growing=${growing && index === last} />
    `,
  );
}

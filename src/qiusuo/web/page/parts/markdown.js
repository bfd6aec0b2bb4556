/** An answer as it grows: finished blocks are drawn once. */
import { splitBlocks } from "../blocks.js";
import { html, memo } from "../html.js";
import { renderMarkdown } from "../markdown.js";
import { useLayoutEffect, useMemo, useRef } from "../vendor.js";

const BlockView = memo(
  /** @param {{text: string, level: number, growing: boolean}} props */
  ({ text, level, growing }) => {
    /** @type {{current: HTMLDivElement | null}} */
    const box = useRef(null);
    useLayoutEffect(() => {
      box.current?.replaceChildren(renderMarkdown(text, { level, growing }));
    }, [text, level, growing]);
    return html`<div class="block" ref=${box}></div>`;
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

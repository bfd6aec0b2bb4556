/** The text of an answer with its citations. */
import { markCitations } from "../citations.js";
import { copy } from "../clipboard.js";
import { html } from "../html.js";
import { useLayoutEffect, useRef } from "../vendor.js";
import { CitationCards } from "./citecard.js";
import { Markdown } from "./markdown.js";

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

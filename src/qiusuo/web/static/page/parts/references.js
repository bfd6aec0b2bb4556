/** The list under an answer, in the order and under the headings that the server gives; to be copied as it is. */
import { sourceOf } from "../citations.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { isWeb, readable } from "../markdown.js";
import { Markdown } from "./answer.js";
import { copy } from "./copy.js";
import { IconButton } from "./icons.js";

/** @import { Source } from "../types.js" */

const HEADING = /^(#{2,6})\s+(.*)$/;
const ENTRY = /^- \[\[?(\d+)\]/;
const ESCAPED = /\\([!-/:-@[-`{-~])/g;

/** @param {{markdown: string, sources: Source[]}} props */
export function References({ markdown, sources }) {
  if (!markdown.trim()) return null;
  const lines = markdown.split("\n").filter((line) => line.trim());
  return html`
    <section class="references">
      ${lines.map((line, index) => {
        const heading = HEADING.exec(line);
        if (heading && heading[1].length === 2) {
          return html`<h3 key=${index}>${t("references")}</h3><${IconButton} icon="copy" label=${t("copyReferences")} onClick=${() => void copy(markdown)} />`;
        }
        if (heading) return html`<h4 key=${index}>${heading[2].replace(ESCAPED, "$1")}</h4>`;
        const source = sourceOf(sources, Number(ENTRY.exec(line)?.[1]));
        if (source) return html`<${Reference} key=${index} source=${source} />`;
        return html`<div key=${index} class="reference-other"><${Markdown} text=${line.replace(/^- /, "")} /></div>`;
      })}
    </section>
  `;
}

/** @param {{source: Source}} props */
function Reference({ source }) {
  const title = source.title || source.domain || source.url;
  return html`
    <p class="reference">
      <span class="reference-number">[${source.number}]</span>
      <span class="reference-what">
        ${isWeb(source.url)
          ? html`<a href=${source.url} target="_blank" rel="noopener noreferrer nofollow">${title}</a>`
          : html`<span>${title}</span>`}
        ${!source.url.startsWith("#") && html`<span class="reference-url" title=${source.url}>${readable(source.url)}</span>`}
        ${source.domain && html`<span class="chip">${source.domain}</span>`}
      </span>
    </p>
  `;
}

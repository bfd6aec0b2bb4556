/** What changed: a text in two versions, side by side. Loaded when a reader asks for it. */
import { ApiError, call } from "../api.js";
import { html } from "../html.js";
import { formatDay, getLanguage, listed } from "../i18n.js";
import { useEffect, useState } from "../vendor.js";
import { tr } from "./tr.js";

/** @import { Comparison, Side } from "../types.js" */

// Nothing else is asked for, whatever a conversation says.
const OURS = /^\/api\/[\w/-]+\?/;

/** @param {{path: string, about: string}} props `about`: what is compared */
export function Compare({ path, about }) {
  const [open, setOpen] = useState(false);
  const [found, setFound] = useState(/** @type {Comparison | null} */ (null));
  const [fault, setFault] = useState("");
  const language = getLanguage();
  useEffect(() => {
    if (!open) return;
    setFault("");
    call("GET", path)
      .then(setFound)
      .catch((error) => setFault((error instanceof ApiError && error.status && error.message) || tr("cannotCompare")));
  }, [open, path, language]);
  if (!OURS.test(path)) return null;
  return html`
    <details class="compare" onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.target).open)}>
      <summary>${tr("whatChanged")}<span class="unseen"> ${about}</span></summary>
      <div aria-live="polite">
        ${fault
          ? html`<p class="card-remark">${fault}</p>`
          : found
            ? html`<${Versions} found=${found} />`
            : open && html`<p class="card-remark">${tr("loading")}</p>`}
      </div>
    </details>
  `;
}

/** @param {{found: Comparison}} props */
function Versions({ found }) {
  return html`
    ${found.notes.map((note) => html`<p key=${note} class="card-remark">${note}</p>`)}
    ${found.old &&
    html`<div class="versions">
      <${Version} title=${tr("oldVersion")} side=${found.old} parts=${found.parts} change="removed" />
      <${Version} title=${tr("newVersion")} side=${found.new} parts=${found.parts} change="added" />
    </div>`}
  `;
}

/** @param {{title: string, side: Side, parts: Comparison["parts"], change: "removed" | "added"}} props */
function Version({ title, side, parts, change }) {
  const since = side.effectiveDate && tr("versionSince", { day: formatDay(side.effectiveDate) });
  const name = listed(title, side.articleNumber, since);
  const mine = parts.filter((part) => part.change === "same" || part.change === change);
  return html`
    <div class="version" role="group" aria-label=${name}>
      <p class="card-from">${name}</p>
      <p class="version-text">
        ${side.text
          ? mine.map((part) =>
              part.change === "same" ? part.text : part.change === "removed" ? html`<del>${part.text}</del>` : html`<ins>${part.text}</ins>`,
            )
          : tr("noSuchText")}
      </p>
    </div>
  `;
}

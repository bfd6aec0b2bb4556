/** The doctor in the page: what is found, why, what to do, and where it can be done from here. */
import { html } from "../html.js";
import { Command } from "../parts/copy.js";
import { docLink } from "../parts/notice.js";
import { placeOf, withoutShell } from "../places.js";
import { useEffect } from "../vendor.js";
import { getDesk } from "./desk.js";
import { idOf } from "./fields.js";
import { labelOf } from "./labels.js";
import { getLook, lookAgain, repair, useLook } from "./look.js";
import { Sheet } from "./sheet.js";
import { tr } from "./tr.js";

/** @import { Found } from "./types.js" */

const LEVELS = /** @type {const} */ ({ ok: "levelOk", note: "levelNote", warning: "levelWarning", problem: "levelProblem" });
const SIGNS = { ok: "✓", note: "i", warning: "!", problem: "✕" };

export function DoctorSheet() {
  const { found, busy, failed, old } = useLook();
  useEffect(() => {
    if (!getLook().found) void lookAgain();
  }, []);
  const grave = found?.filter((one) => one.level !== "ok") ?? [];
  const fine = found?.filter((one) => one.level === "ok") ?? [];
  return html`
    <${Sheet} id="doctor" title=${tr("doctor")} about=${tr("doctorAbout")}>
      <p class="movers">
        <button type="button" aria-busy=${busy === "look"} onClick=${() => void lookAgain()}>
          ${busy === "look" ? tr("looking") : tr("again")}
        </button>
      </p>
      ${failed && html`<p class="fault" role="alert">${failed}</p>`}
      ${found && !grave.length && html`<p class="good">${tr("allWell")}</p>`}
      <${Findings} findings=${grave} busy=${busy} old=${old} />
      ${fine.length > 0 &&
      html`<details class="fine">
        <summary>${tr("whatWorks", { count: fine.length })}</summary>
        <ul>
          ${fine.map((one) => html`<li key=${one.code + one.what}><span class="good" aria-hidden="true">✓</span> ${one.what}</li>`)}
        </ul>
      </details>`}
    <//>
  `;
}

/** What the doctor has found of one thing. @param {{check: string}} props */
export function FindingsOf({ check }) {
  const { found, busy, old } = useLook();
  const mine = (found ?? []).filter((one) => one.check === check && one.level !== "ok");
  return html`<${Findings} findings=${mine} busy=${busy} old=${old} />`;
}

/** @param {{findings: Found[], busy: string, old: boolean}} props `old`: something was saved since */
function Findings({ findings, busy, old }) {
  return html`
    ${old && findings.length > 0 && html`<p class="about">${tr("oldFindings")}</p>`}
    <ul class=${old ? "findings old" : "findings"}>
      ${findings.map((one) => html`<${FindingCard} key=${one.code + one.what} finding=${one} busy=${busy} />`)}
    </ul>
  `;
}

/** @param {{finding: Found, busy: string}} props */
function FindingCard({ finding, busy }) {
  const level = /** @type {keyof typeof LEVELS} */ (finding.level in LEVELS ? finding.level : "note");
  const guide = docLink(finding.guide ?? "");
  const here = placeOf(finding, getDesk().data);
  const { fix, commands, value } = here ? withoutShell(finding) : { ...finding, value: "" };
  return html`
    <li class=${`card finding ${level}`}>
      <p class="finding-head">
        <span class="level"><span aria-hidden="true">${SIGNS[level]}</span> ${tr(LEVELS[level])}</span> <b>${finding.what}</b>
      </p>
      ${finding.why && html`<p>${finding.why}</p>`} ${fix && html`<p>${fix}</p>`}
      ${here && html`<p><a class="to-field" href=${`#${fieldOf(here)}`} onClick=${toField}>${tr("setHere", { field: fieldName(here) })}</a> ${value && html`<code>${value}</code>`}</p>`}
      ${commands.map((command) => html`<${Command} key=${command} command=${command} />`)}
      <p class="finding-foot">
        ${finding.repair &&
        html`<button type="button" class="primary" disabled=${busy !== ""} onClick=${(/** @type {{currentTarget: Element}} */ event) => void repair(finding.code, event.currentTarget.closest("section"))}>
          ${busy === finding.code ? tr("repairing") : tr("repair")}
        </button>`}
        ${guide && html`<a href=${guide} target="_blank">${tr("guide")}</a>`}
      </p>
    </li>
  `;
}

/** @param {string} name @returns {string} where its field stands; that of a model only where there is one */
function fieldOf(name) {
  return document.getElementById(idOf(name)) ? idOf(name) : idOf("model provider");
}

/** @param {string} name @returns {string} */
function fieldName(name) {
  const part = name === "searxng_url" ? "SearXNG" : tr("model");
  return `${part} · ${labelOf(name, getDesk().data)}`;
}

/** @param {{preventDefault: () => void, currentTarget: HTMLAnchorElement}} event */
function toField(event) {
  event.preventDefault();
  const field = document.getElementById(event.currentTarget.hash.slice(1));
  field?.scrollIntoView({ block: "center" });
  field?.focus({ preventScroll: true });
}

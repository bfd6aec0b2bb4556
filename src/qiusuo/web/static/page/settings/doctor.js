/** The doctor in the page: what is found, why, what to do, and where it can be done from here. */
import { call } from "../api.js";
import { announce } from "../browser.js";
import { html } from "../html.js";
import { Command } from "../parts/copy.js";
import { docLink } from "../parts/notice.js";
import { say } from "../store.js";
import { useEffect, useState } from "../vendor.js";
import { load, messageOf, onDesk } from "./desk.js";
import { Sheet } from "./sheet.js";
import { tr } from "./tr.js";

/** @import { Found } from "./types.js" */

const LEVELS = /** @type {const} */ ({ ok: "levelOk", note: "levelNote", warning: "levelWarning", problem: "levelProblem" });
const SIGNS = { ok: "✓", note: "i", warning: "!", problem: "✕" };
const GRAVITY = ["problem", "warning", "note", "ok"];

/** One look for all parts of the page that show something of it. @type {{found: Found[] | null, busy: string, failed: string}} */
let look = { found: null, busy: "", failed: "" };
/** @type {Set<() => void>} */
const listeners = new Set();

/** @param {Partial<typeof look>} changes */
function seen(changes) {
  look = { ...look, ...changes };
  for (const listener of [...listeners]) listener();
}

/** @param {() => Promise<any>} ask @param {string} busy what is under way */
async function examine(ask, busy) {
  if (look.busy) return;
  seen({ busy, failed: "" });
  try {
    const { findings } = await ask();
    const order = [...findings].sort((one, other) => GRAVITY.indexOf(one.level) - GRAVITY.indexOf(other.level));
    seen({ found: order, busy: "" });
    say(tr("doctorDone", { count: order.filter((one) => one.level === "problem" || one.level === "warning").length }));
  } catch (error) {
    seen({ busy: "", failed: messageOf(error) });
  }
}

/** Look at everything. */
export function lookAgain() {
  return examine(() => call("GET", "/api/doctor"), "look");
}

/** @param {string} code @param {Element | null} place where it was asked for */
async function repair(code, place) {
  await examine(() => call("POST", "/api/doctor/repair", { code }), code);
  announce(null);
  await load();
  // The button may have gone with what it has mended.
  if (document.activeElement === document.body && place instanceof HTMLElement) place.focus();
}

function useLook() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const draw = () => redraw((count) => count + 1);
    listeners.add(draw);
    const end = onDesk(draw);
    return () => {
      listeners.delete(draw);
      end();
    };
  }, []);
  return look;
}

export function DoctorSheet() {
  const { found, busy, failed } = useLook();
  useEffect(() => {
    if (!look.found) void lookAgain();
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
      <${Findings} findings=${grave} busy=${busy} />
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
  const { found, busy } = useLook();
  const mine = (found ?? []).filter((one) => one.check === check && one.level !== "ok");
  return html`<${Findings} findings=${mine} busy=${busy} />`;
}

/** @param {{findings: Found[], busy: string}} props */
function Findings({ findings, busy }) {
  return html`
    <ul class="findings">
      ${findings.map((one) => html`<${FindingCard} key=${one.code + one.what} finding=${one} busy=${busy} />`)}
    </ul>
  `;
}

/** @param {{finding: Found, busy: string}} props */
function FindingCard({ finding, busy }) {
  const level = /** @type {keyof typeof LEVELS} */ (finding.level in LEVELS ? finding.level : "note");
  const guide = docLink(finding.guide ?? "");
  return html`
    <li class=${`card finding ${level}`}>
      <p class="finding-head">
        <span class="level"><span aria-hidden="true">${SIGNS[level]}</span> ${tr(LEVELS[level])}</span> <b>${finding.what}</b>
      </p>
      ${finding.why && html`<p>${finding.why}</p>`} ${finding.fix && html`<p>${finding.fix}</p>`}
      ${finding.commands.map((command) => html`<${Command} key=${command} command=${command} />`)}
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

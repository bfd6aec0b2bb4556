/** One look of the doctor for all parts of the page that show something of it. */
import { call } from "../api.js";
import { announce } from "../browser.js";
import { say } from "../store.js";
import { useEffect, useState } from "../vendor.js";
import { load, onDesk, reasonOf } from "./desk.js";
import { tr } from "./tr.js";

/** @import { Found } from "./types.js" */

const GRAVITY = ["problem", "warning", "note", "ok"];
const GRAVE = new Set(["problem", "warning"]);

/** `old`: something was saved since. @type {{found: Found[] | null, busy: string, failed: string, old: boolean}} */
let look = { found: null, busy: "", failed: "", old: false };
let wanted = false;
/** @type {Set<() => void>} */
const listeners = new Set();

export function getLook() {
  return look;
}

/** @param {Partial<typeof look>} changes */
function seen(changes) {
  look = { ...look, ...changes };
  for (const listener of [...listeners]) listener();
}

/** @param {() => Promise<any>} ask @param {string} busy what is under way @param {boolean} [quiet] nobody has asked for it */
async function examine(ask, busy, quiet = false) {
  if (look.busy) return;
  wanted = false;
  seen({ busy, failed: "" });
  try {
    const { findings } = await ask();
    const order = [...findings].sort((one, other) => GRAVITY.indexOf(one.level) - GRAVITY.indexOf(other.level));
    seen({ found: order, busy: "", old: wanted });
    if (!quiet) say(tr("doctorDone", { count: order.filter((one) => GRAVE.has(one.level)).length }));
  } catch (error) {
    seen({ busy: "", failed: reasonOf(error) });
  }
  if (wanted) await lookAgain(true);
}

/** Look at everything. @param {boolean} [quiet] */
export function lookAgain(quiet = false) {
  return examine(() => call("GET", "/api/doctor"), "look", quiet);
}

/** What was found may be so no longer: look again, after the look that is under way. */
export function lookAfterSaving() {
  wanted = true;
  if (look.found) seen({ old: true });
  void lookAgain(true);
}

/** @param {string} code @param {Element | null} place where it was asked for */
export async function repair(code, place) {
  await examine(() => call("POST", "/api/doctor/repair", { code }), code);
  announce(null);
  await load();
  // The button may have gone with what it has mended.
  if (document.activeElement === document.body && place instanceof HTMLElement) place.focus();
}

export function useLook() {
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

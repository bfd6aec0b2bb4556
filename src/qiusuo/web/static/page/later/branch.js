/** An earlier question asked in other words: it goes on in a branch, a conversation of its own; the old one stays. */
import { call, sessionPath } from "../api.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { messageOf } from "../failures.js";
import { openFromAddress, refreshHistory } from "../sessions.js";
import { getState, toast } from "../store.js";
import { UNSENT, send } from "../turns.js";
import { useEffect } from "../vendor.js";
import { tr } from "./tr.js";
import { loadStyle } from "./style.js";

/** @import { Branch, Turn } from "../types.js" */

/**
 * @param {Turn} turn
 * @param {string} text
 * @param {() => void} onTaken the question is on its way, what was written is not needed any more
 */
export async function branchAt(turn, text, onTaken) {
  const { current, turns, live } = getState();
  const how = { research: turn.mode === "research" };
  // The server knows nothing of what did not get through.
  const first = turns.slice(turns.indexOf(turn)).find((known) => !known.id.startsWith(UNSENT));
  if (live) return;
  if (!current || !first) {
    onTaken();
    return void send(text, turn.id, undefined, how);
  }
  try {
    const made = await call("POST", sessionPath(current.id, "/branches"), { turn: first.id });
    for (const { title } of made.removed) toast(t("roomMade", { title: title || t("untitled") }), "error");
    void refreshHistory();
    if (getState().current?.id !== current.id) return;
    onTaken();
    history.pushState(null, "", `#/s/${made.id}`);
    await openFromAddress();
    if (getState().current?.id === made.id) await send(text, undefined, undefined, how);
  } catch (error) {
    toast(messageOf(error), "error");
  }
}

/** @param {{origin: Branch}} props */
export function Origin({ origin }) {
  useEffect(() => void loadStyle("daily.css"), []);
  return html`
    <p class="hint kin">
      ${tr("branchedFrom")} <a href=${`#/s/${origin.session}/${origin.turn}`} dir="auto">${origin.title || t("untitled")}</a>
    </p>
  `;
}

/** @param {{branches: Branch[]}} props */
export function Branches({ branches }) {
  useEffect(() => void loadStyle("daily.css"), []);
  return html`
    <p class="hint kin">
      ${tr("branches")}${" "}
      ${branches.map(
        ({ session, title }, index) =>
          html`${index > 0 && " · "}<a key=${session} href=${`#/s/${session}`} dir="auto">${title || t("untitled")}</a>`,
      )}
    </p>
  `;
}

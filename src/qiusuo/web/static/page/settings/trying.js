/** "Test": the cheapest question to a provider, and its outcome in words. */
import { call } from "../api.js";
import { html } from "../html.js";
import { Command } from "../parts/copy.js";
import { useEffect, useState } from "../vendor.js";
import { reasonOf } from "./desk.js";
import { tr } from "./tr.js";

/** @import { Tried } from "./types.js" */

const WORDS = /** @type {const} */ ({
  accepted: "tryAccepted",
  refused: "tryRefused",
  no_credit: "tryNoCredit",
  limited: "tryLimited",
  unreachable: "tryUnreachable",
  no_such_model: "tryNoSuchModel",
  wrong_service: "tryWrongService",
  failed: "tryFailed",
});

/**
 * A button, and beside it what came of it. What is asked may be half typed, so it is read when it is pressed.
 *
 * @param {{what: string, ask: () => object, onAccepted?: () => void, disabled?: boolean, after?: number}} props
 *   `what`: for screen readers; `after`: another number when something was saved that is to be tried at once
 */
export function TryButton({ what, ask, onAccepted, disabled = false, after = 0 }) {
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState(/** @type {Tried | null} */ (null));
  const look = async () => {
    if (busy) return;
    setBusy(true);
    setTried(null);
    try {
      const found = await call("POST", "/api/settings/test", ask());
      setTried(found);
      if (found.outcome === "accepted") onAccepted?.();
    } catch (error) {
      setTried({ outcome: "failed", message: reasonOf(error), fix: "", commands: [] });
    }
    setBusy(false);
  };
  useEffect(() => {
    if (after) void look();
  }, [after]);
  return html`
    <button type="button" aria-label=${`${tr("try")}: ${what}`} disabled=${disabled} aria-busy=${busy} onClick=${() => void look()}>
      ${busy ? tr("trying") : tr("try")}
    </button>
    <div class="tried" role="status">${tried && html`<${Outcome} tried=${tried} />`}</div>
  `;
}

/** @param {{tried: Tried}} props */
function Outcome({ tried }) {
  const good = tried.outcome === "accepted";
  const words = WORDS[/** @type {keyof typeof WORDS} */ (tried.outcome)] ?? WORDS.failed;
  return html`
    <p class=${good ? "good" : "wrong"}><span aria-hidden="true">${good ? "✓" : "✕"}</span> <b>${tr(words)}</b></p>
    ${tried.message && html`<p>${tried.message}</p>`} ${tried.fix && html`<p>${tried.fix}</p>`}
    ${(tried.commands ?? []).map((command) => html`<${Command} key=${command} command=${command} />`)}
  `;
}

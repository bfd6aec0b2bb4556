/** Short confirmations at the top, and what screen readers are told. */
import { html } from "../html.js";
import { useStore } from "../store.js";

export function Toasts() {
  const toasts = useStore((state) => state.toasts);
  const said = useStore((state) => state.said);
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${toasts.map((toast) => html`<p key=${toast.id} class=${`toast ${toast.level}`}>${toast.text}</p>`)}
    </div>
    <div class="unseen" role="status" aria-live="polite" id="said">${said}</div>
  `;
}

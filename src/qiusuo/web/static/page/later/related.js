/** What may be asked next, under the last answer: a tap asks it. */
import { html } from "../html.js";
import { focusQuestion } from "../sessions.js";
import { send } from "../turns.js";
import { useEffect } from "../vendor.js";
import { tr } from "./tr.js";
import { loadStyle } from "./style.js";

/** @param {{questions: string[]}} props */
export function Related({ questions }) {
  useEffect(() => void loadStyle("daily.css"), []);
  /** @param {string} question */
  const ask = (question) => {
    void send(question);
    focusQuestion(); // the button goes away
  };
  return html`
    <ul class="related" aria-label=${tr("related")}>
      ${questions.map(
        (question) => html`<li key=${question}><button type="button" class="quiet" dir="auto" onClick=${() => ask(question)}>${question}</button></li>`,
      )}
    </ul>
  `;
}

/** Copying, confirmed: a text, a button that copies one, a command to take along. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { toast, useStore } from "../store.js";
import { Icon } from "./icons.js";

/**
 * @param {string} text
 * @param {() => string} [markup] the same as HTML, for programs that take it: a word processor, a mail
 */
export async function copy(text, markup) {
  if (await written(text, markup)) toast(t("copied"));
  else toast(t("notCopied"), "error");
}

/** @param {string} text @param {() => string} [markup] @returns {Promise<boolean>} */
async function written(text, markup) {
  try {
    if (markup && window.ClipboardItem) {
      const kinds = { "text/plain": text, "text/html": markup() };
      const blobs = Object.entries(kinds).map(([type, content]) => [type, new Blob([content], { type })]);
      await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
    } else {
      await navigator.clipboard.writeText(text);
    }
    return true;
  } catch {
    return selected(text); // not a secure context: http under another name than localhost
  }
}

/** @param {string} text @returns {boolean} */
function selected(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

/** @param {{text: string, label?: string, markup?: () => string}} props */
export function CopyButton({ text, label = t("copy"), markup }) {
  return html`
    <button type="button" class="quiet" onClick=${() => void copy(text, markup)}><${Icon} name="copy" /><span>${label}</span></button>
  `;
}

/** A command as it must be typed on the server: ours by its path, where it is not on the PATH. @param {{command: string}} props */
export function Command({ command }) {
  const program = useStore((state) => state.config?.program ?? "");
  const typed = program ? command.replace(/^qiusuo(?= |$)/, () => program) : command;
  return html`<p class="command"><code>${typed}</code><${CopyButton} text=${typed} /></p>`;
}

/** Copying, confirmed. */
import { t } from "./i18n.js";
import { toast } from "./store.js";

/** @param {string} text */
export async function copy(text) {
  if (await written(text)) toast(t("copied"));
  else toast(t("notCopied"), "error");
}

/** @param {string} text @returns {Promise<boolean>} */
async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
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

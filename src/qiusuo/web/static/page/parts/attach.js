/** Files for a question: chosen, dropped or pasted. What sends and shows them is loaded with the first one. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { getState, useStore } from "../store.js";
import { useEffect } from "../vendor.js";
import { IconButton } from "./icons.js";

const later = () => import("../later/files.js");

/** @returns {Promise<boolean>} the files of the question are read; false: one of them could not be */
export const filesRead = async () => !getState().files || (await later()).settled();

export function Files() {
  const Chips = useStore((state) => state.files?.Chips);
  const kept = useStore((state) => state.current?.files?.length);
  useEffect(() => void (kept && later().then((room) => room.show())), [kept]);
  return Chips && html`<${Chips} />`;
}

/**
 * Programs copy a picture of a text beside it: that is text. All else would lead the browser away from the page.
 *
 * @param {any} event
 */
function take(event) {
  const given = event.dataTransfer ?? event.clipboardData;
  if (!given?.types.includes("Files") || given.types.includes("text/plain")) return;
  event.preventDefault();
  const files = [...given.files];
  if (files.length) void later().then((room) => room.add(files));
}

for (const name of ["dragover", "drop", "paste"]) document.addEventListener(name, take);

export function FileButton() {
  const allowed = useStore((state) => state.config?.files);
  const choose = () => later().then((room) => room.choose());
  return allowed && html`<${IconButton} icon="clip" label=${t("addFiles")} onClick=${choose} />`;
}

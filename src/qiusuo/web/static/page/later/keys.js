/** The map of the keys. */
import { recall, remember } from "../browser.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { render, useLayoutEffect, useRef, useState } from "../vendor.js";
import { tr } from "./tr.js";
import { loadStyle } from "./style.js";

const OFF = "qiusuo.keys.off";
const MAP = /** @type {const} */ ([
  [["Enter"], "keySend"],
  [["Shift", "Enter"], "keyBreak"],
  [["/"], "keyCommands"],
  [["Ctrl", "Enter"], "keyAsIs"],
  [["Esc"], "keyEscape"],
  [["Tab"], "keyTab"],
  [["←", "→"], "keySources"],
  [["?"], "keyMap"],
]);

/** @param {boolean} [byKey] it was the key alone, which may be switched off: some speak to their computer */
export async function showKeys(byKey = false) {
  if (byKey && recall("localStorage", OFF) === "yes") return;
  await loadStyle("menu.css");
  await loadStyle("daily.css");
  const opener = /** @type {HTMLElement | null} */ (document.activeElement);
  const place = document.createElement("div");
  document.body.append(place);
  const close = () => {
    render(null, place);
    place.remove();
    if (opener?.isConnected) opener.focus();
  };
  render(html`<${Keys} onClose=${close} />`, place);
}

/** @param {{onClose: () => void}} props */
function Keys({ onClose }) {
  /** @type {{current: HTMLDialogElement | null}} */
  const box = useRef(null);
  const [off, setOff] = useState(recall("localStorage", OFF) === "yes");
  useLayoutEffect(() => {
    box.current?.showModal();
  }, []);
  /** @param {{currentTarget: HTMLInputElement}} event */
  const choose = ({ currentTarget }) => {
    remember("localStorage", OFF, currentTarget.checked ? "" : "yes");
    setOff(!currentTarget.checked);
  };
  return html`
    <dialog ref=${box} class="menu" aria-labelledby="keys-title" onClose=${onClose}>
      <header>
        <h2 id="keys-title">${t("keys")}</h2>
        <button type="button" class="quiet" onClick=${() => box.current?.close()}>${tr("close")}</button>
      </header>
      <dl class="keys">
        ${MAP.map(
          ([keys, words]) => html`<div key=${words}>
            <dt>${keys.map((key, index) => html`${index > 0 && (key === "→" ? " " : "+")}<kbd key=${key}>${key}</kbd>`)}</dt>
            <dd>${tr(words)}</dd>
          </div>`,
        )}
      </dl>
      <label class="hint"><input type="checkbox" checked=${!off} onChange=${choose} /> ${tr("keyAlone")}</label>
    </dialog>
  `;
}

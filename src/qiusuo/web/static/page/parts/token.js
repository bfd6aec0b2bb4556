/** Asks for the token of a server that wants one. */
import { keepToken } from "../api.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { getState, useStore } from "../store.js";
import { useEffect, useRef, useState } from "../vendor.js";

/** @param {{onEnter: () => Promise<void>}} props `onEnter` begins anew with the token */
export function TokenDialog({ onEnter }) {
  /** @type {{current: HTMLDialogElement | null}} */
  const box = useRef(null);
  const [tried, setTried] = useState(0);
  const failed = useStore((state) => state.failed);
  useEffect(() => {
    if (box.current && !box.current.open) box.current.showModal();
  }, []);
  /** @param {SubmitEvent} event */
  const enter = async (event) => {
    event.preventDefault();
    const field = /** @type {HTMLFormElement} */ (event.currentTarget).elements.namedItem("token");
    keepToken(/** @type {HTMLInputElement} */ (field).value.trim());
    await onEnter();
    if (getState().locked) setTried((count) => count + 1);
  };
  return html`
    <dialog ref=${box} class="token" aria-labelledby="token-title" onCancel=${(/** @type {Event} */ e) => e.preventDefault()}>
      <form onSubmit=${enter}>
        <h2 id="token-title">${t("token")}</h2>
        <p>${t("tokenAbout")}</p>
        <label class="field">
          <span>${t("token")}</span>
          <input name="token" type="password" autocomplete="off" required autofocus />
        </label>
        <p role="alert" class="wrong">${failed || (tried > 0 ? t("tokenWrong") : "")}</p>
        <button type="submit" class="primary">${t("enter")}</button>
      </form>
    </dialog>
  `;
}

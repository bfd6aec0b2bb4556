/** Lets people in: asks for the token of a server that wants one, or leads to the sign-in. */
import { call, keepToken } from "../api.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { getState, useStore } from "../store.js";
import { useEffect, useRef, useState } from "../vendor.js";

/**
 * How people come in here.
 *
 * @param {boolean} needed
 * @returns {{offer: any, SignIn: any}} null until the server has said it; `SignIn` is there where people sign in
 */
export function useOffer(needed) {
  const [found, setFound] = useState(/** @type {{offer: any, SignIn: any}} */ ({ offer: null, SignIn: null }));
  useEffect(() => {
    if (!needed) return;
    const look = async () => {
      const offer = await call("GET", "/api/signin");
      setFound({ offer, SignIn: (await import("../later/account.js")).SignInOffer });
    };
    look().catch(() => setFound({ offer: { tokens: true }, SignIn: null })); // there is none, or it cannot be told
  }, [needed]);
  return found;
}

/** @param {{onEnter: () => Promise<void>}} props `onEnter` begins anew with the token */
export function TokenDialog({ onEnter }) {
  /** @type {{current: HTMLDialogElement | null}} */
  const box = useRef(null);
  const [tried, setTried] = useState(0);
  const failed = useStore((state) => state.failed);
  const { offer, SignIn } = useOffer(true);
  const ready = offer !== null;
  useEffect(() => {
    if (ready && box.current && !box.current.open) box.current.showModal();
  }, [ready]);
  /** @param {SubmitEvent} event */
  const enter = async (event) => {
    event.preventDefault();
    const field = /** @type {HTMLFormElement} */ (event.currentTarget).elements.namedItem("token");
    keepToken(/** @type {HTMLInputElement} */ (field).value.trim());
    await onEnter();
    if (getState().locked) setTried((count) => count + 1);
  };
  return html`
    <dialog ref=${box} class="token" aria-labelledby=${SignIn ? "sign-in" : "token-title"} onCancel=${(/** @type {Event} */ e) => e.preventDefault()}>
      ${SignIn && html`<${SignIn} over=${offer.over} />`}
      ${offer?.tokens &&
      html`<form onSubmit=${enter}>
        <h2 id="token-title">${t("token")}</h2>
        <p>${t("tokenAbout")}</p>
        <label class="field">
          <span>${t("token")}</span>
          <input name="token" type="password" autocomplete="off" required autofocus />
        </label>
        <p role="alert" class="wrong">${failed || (tried > 0 ? t("tokenWrong") : "")}</p>
        <button type="submit" class="primary">${t("enter")}</button>
      </form>`}
    </dialog>
  `;
}

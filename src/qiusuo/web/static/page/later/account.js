/** Who has come in without a token: the way to the sign-in, the name, and the way out. */
import { call, keepToken } from "../api.js";
import { ROOT, remember } from "../browser.js";
import { messageOf } from "../failures.js";
import { html } from "../html.js";
import { toast } from "../store.js";
import { useState } from "../vendor.js";
import { tr } from "./tr.js";

/** Go to the sign-in, which comes back to what is shown now. */
function signIn() {
  keepToken("");
  const here = location.pathname.slice(ROOT.length) + location.search + location.hash;
  location.assign(`${ROOT}/signin?return=${encodeURIComponent(here)}`);
}

/** @param {{over: boolean}} props `over`: somebody had signed in, and their time has ended */
export function SignInOffer({ over }) {
  return html`
    <div class="offer">
      <h2 id="sign-in">${tr(over ? "signInOver" : "signIn")}</h2>
      <p>${tr(over ? "signInOverAbout" : "signInAbout")}</p>
      <button type="button" class="primary" autofocus onClick=${signIn}>${tr("signIn")}</button>
    </div>
  `;
}

/** @param {{person: {name: string, via: string}}} props */
export function Account({ person }) {
  const [busy, setBusy] = useState(false);
  /** @param {boolean} everywhere */
  const leave = async (everywhere) => {
    setBusy(true);
    try {
      const { to } = await call("POST", "/signout", { everywhere });
      keepToken("");
      remember("sessionStorage", "qiusuo.draft", ""); // the next person at this computer need not read it
      if (to) return location.assign(to);
      history.replaceState(null, "", `${ROOT}/`);
      location.reload();
    } catch (error) {
      setBusy(false);
      toast(messageOf(error), "error");
    }
  };
  return html`
    <p class="hint account">
      <span title=${person.name}>${tr("signedInAs", { name: person.name })}</span>
      ${person.via === "sign_in" &&
      html`
        <button type="button" class="quiet" disabled=${busy} onClick=${() => leave(false)}>${tr("signOut")}</button>
        <button type="button" class="quiet" disabled=${busy} onClick=${() => leave(true)}>${tr("signOutEverywhere")}</button>
      `}
    </p>
  `;
}

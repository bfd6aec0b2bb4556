/** Everything that is kept about oneself: taken along, or deleted. */
import { call, download } from "../api.js";
import { messageOf } from "../failures.js";
import { html } from "../html.js";
import { newChat, refreshHistory } from "../sessions.js";
import { toast } from "../store.js";
import { useState } from "../vendor.js";
import { tr } from "./tr.js";

/** @param {{close: () => void, tell: (text: string) => void}} props */
export function OwnData({ close, tell }) {
  const [asked, setAsked] = useState(false);
  const save = () =>
    download("/api/chat/export", "qiusuo.zip")
      .then(close)
      .catch((error) => tell(messageOf(error)));
  const forget = async () => {
    try {
      await call("POST", "/api/chat/forget", { confirm: true });
    } catch (error) {
      tell(messageOf(error));
      return;
    }
    close();
    newChat({ instead: true });
    await refreshHistory();
    toast(tr("allDeleted"));
  };
  return html`
    <section>
      <h3 id="menu-own">${tr("yourData")}</h3>
      <p class="menu-row" role="group" aria-labelledby="menu-own">
        <button type="button" onClick=${() => void save()}>${tr("saveAll")}</button>
        ${!asked && html`<button type="button" class="danger" onClick=${() => setAsked(true)}>${tr("deleteAll")}</button>`}
      </p>
      ${asked &&
      html`<p role="alert">${tr("deleteAllAbout")}</p>
        <p class="menu-row">
          <button type="button" class="danger" onClick=${() => void forget()}>${tr("deleteAllNow")}</button>
          <button type="button" onClick=${() => setAsked(false)}>${tr("keepAll")}</button>
        </p>`}
    </section>
  `;
}

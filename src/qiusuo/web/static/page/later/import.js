/** A conversation brought back from a file. */
import { call } from "../api.js";
import { messageOf } from "../failures.js";
import { html } from "../html.js";
import { t } from "../i18n.js";
import { refreshHistory } from "../sessions.js";
import { change, toast } from "../store.js";
import { tr } from "./tr.js";

const MOST_BYTES = 16 * 1024 * 1024;

/** @param {{close: () => void, tell: (text: string) => void}} props */
export function ImportButton({ close, tell }) {
  /** @param {{currentTarget: HTMLInputElement}} event */
  const take = async ({ currentTarget }) => {
    const file = currentTarget.files?.[0];
    currentTarget.value = "";
    if (!file) return;
    if (file.size > MOST_BYTES) return tell(tr("tooLarge"));
    try {
      const info = await call("POST", "/api/chat/import", JSON.parse(await file.text()));
      close();
      change({ drawer: false });
      toast(tr("brought_in"));
      for (const { title } of info.removed) toast(t("roomMade", { title: title || tr("untitled") }), "error");
      void refreshHistory();
      location.hash = `#/s/${info.id}`;
    } catch (error) {
      tell(error instanceof SyntaxError ? tr("noConversation") : messageOf(error));
    }
  };
  return html`
    <section>
      <label class="menu-file">
        <span>${tr("bring")}</span>
        <input type="file" accept=".json,application/json" onChange=${take} />
      </label>
    </section>
  `;
}

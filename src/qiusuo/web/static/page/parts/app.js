/** The page: sidebar or top strip, conversation, composer. */
import { html } from "../html.js";
import { getLanguage, getTheme, listed, onPreferences, t } from "../i18n.js";
import { useLater } from "../load.js";
import { start } from "../sessions.js";
import { useStore } from "../store.js";
import { useEffect, useState } from "../vendor.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { Sidebar } from "./sidebar.js";
import { Toasts } from "./toasts.js";
import { TokenDialog } from "./token.js";
import { TopBar } from "./topbar.js";

const PHONE = matchMedia("(max-width: 760px)");

export function App() {
  const [phone, setPhone] = useState(PHONE.matches);
  const [, redraw] = useState(0);
  const drawer = useStore((state) => state.drawer);
  const locked = useStore((state) => state.locked);
  const title = useStore((state) => state.current?.title ?? "");
  const beside = useStore((state) => state.beside);
  const panel = useLater(() => import("../later/beside.js"), beside !== null);
  useEffect(() => {
    PHONE.addEventListener("change", () => setPhone(PHONE.matches));
    onPreferences(() => redraw((count) => count + 1));
  }, []);
  useEffect(() => {
    document.title = title ? listed(title, t("app")) : listed(t("app"), t("tagline"));
  });
  return html`
    <div class=${phone ? "page phone" : "page"} key=${getLanguage()} data-look=${getTheme()}>
      <a class="skip" href="#question" onClick=${skip}>${t("skip")}</a>
      ${phone && html`<${TopBar} behind=${drawer} />`}
      <${Sidebar} phone=${phone} open=${drawer} look=${getTheme()} />
      <main class="main" inert=${phone && drawer}>
        <${Conversation} />
        <${Composer} />
      </main>
      ${panel && beside && html`<${panel.Beside} ...${beside} />`}
      <${Toasts} />
      ${locked && html`<${TokenDialog} onEnter=${start} />`}
    </div>
  `;
}

/** The address names the conversation, so the link must not change it. @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("question")?.focus();
}

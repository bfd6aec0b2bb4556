/** The strip at the top of a phone: mode and switch stay in sight. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { newChat } from "../sessions.js";
import { change, useStore } from "../store.js";
import { IconButton } from "./icons.js";
import { SettingsControls } from "./settings.js";

/** @param {{behind: boolean}} props `behind`: the drawer is open before it */
export function TopBar({ behind }) {
  const fresh = useStore((state) => state.turns.length === 0 && !state.loading);
  return html`
    <header class="topbar" inert=${behind}>
      ${!behind && html`<h1 class="unseen">${t("app")}</h1>`}
      <${IconButton} id="drawer-button" icon="menu" label=${t("openSidebar")} onClick=${() => change({ drawer: true })} />
      <section class="strip" aria-labelledby="settings-title">
        <h2 id="settings-title" class="unseen">${t("settings")}</h2>
        <${SettingsControls} />
      </section>
      ${!fresh && html`<${IconButton} class="quiet new-here" icon="compose" label=${t("newChat")} onClick=${() => newChat()} />`}
    </header>
  `;
}

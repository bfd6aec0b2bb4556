/** The strip at the top of a phone: mode and switch stay in sight. */
import { html } from "../html.js";
import { t } from "../i18n.js";
import { newChat } from "../sessions.js";
import { change, useStore } from "../store.js";
import { Icon } from "./icons.js";
import { SettingsControls } from "./settings.js";

/** @param {{behind: boolean}} props `behind`: the drawer is open before it */
export function TopBar({ behind }) {
  const fresh = useStore((state) => state.turns.length === 0 && !state.loading);
  return html`
    <header class="topbar" inert=${behind}>
      ${!behind && html`<h1 class="unseen">${t("app")}</h1>`}
      <button
        type="button"
        id="drawer-button"
        class="quiet"
        aria-label=${t("openSidebar")}
        onClick=${() => change({ drawer: true })}
      >
        <${Icon} name="menu" />
      </button>
      <section class="strip" aria-labelledby="settings-title">
        <h2 id="settings-title" class="unseen">${t("settings")}</h2>
        <${SettingsControls} />
      </section>
      ${!fresh &&
      html`<button type="button" class="quiet new-here" aria-label=${t("newChat")} title=${t("newChat")} onClick=${() => newChat()}>
        <${Icon} name="compose" />
      </button>`}
    </header>
  `;
}

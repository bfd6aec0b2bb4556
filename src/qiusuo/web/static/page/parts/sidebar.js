/** The left side: settings first, then a new chat and the history. On phones it is a drawer, and the settings stay above. */
import { ROOT } from "../browser.js";
import { html } from "../html.js";
import { getLanguage, getTheme, setTheme, t } from "../i18n.js";
import { useLater } from "../load.js";
import { newChat } from "../sessions.js";
import { change, useStore } from "../store.js";
import { useLayoutEffect, useRef } from "../vendor.js";
import { History } from "./history.js";
import { Icon, IconButton } from "./icons.js";
import { LanguageChoice } from "./language.js";
import { MoreSettings, SettingsPanel } from "./settings.js";

/** @import { Budget } from "../types.js" */

/** @param {{phone: boolean, open: boolean}} props */
export function Sidebar({ phone, open }) {
  /** @type {{current: HTMLElement | null}} */
  const box = useRef(null);
  const wasOpen = useRef(false);
  // At once, so that no key meanwhile goes nowhere.
  useLayoutEffect(() => {
    if (phone && open) box.current?.querySelector("button")?.focus();
    // Unless something else, such as the next question, has taken it already.
    else if (wasOpen.current && document.activeElement === document.body) document.getElementById("drawer-button")?.focus();
    wasOpen.current = phone && open;
  }, [phone, open]);
  const close = () => change({ drawer: false });
  if (phone && !open) return null;
  return html`
    ${phone && html`<div class="shade" onClick=${close}></div>`}
    <aside
      ref=${box}
      class="sidebar"
      aria-label=${t("sidebar")}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => phone && event.key === "Escape" && (event.preventDefault(), close())}
    >
      <header class="brand">
        <h1>${t("app")}<small>${t("tagline")}</small></h1>
        ${phone
          ? html`<${IconButton} icon="close" label=${t("closeSidebar")} onClick=${close} />`
          : html`<${IconButton} icon="keys" label=${t("keys")} onClick=${() => void import("../later/keys.js").then(({ showKeys }) => showKeys())} />`}
      </header>
      ${phone
        ? html`<section class="panel" aria-label=${t("settings")}><${MoreSettings} /></section>`
        : html`<${SettingsPanel} />`}
      <button type="button" class="new-chat" onClick=${() => newChat()}><${Icon} name="plus" />${t("newChat")}</button>
      <${History} />
      <${Preferences} />
    </aside>
  `;
}

const THEMES = /** @type {const} */ ({
  auto: { next: "light", icon: "auto", words: "themeAuto" },
  light: { next: "dark", icon: "sun", words: "themeLight" },
  dark: { next: "auto", icon: "moon", words: "themeDark" },
});

function Preferences() {
  const theme = THEMES[getTheme()];
  const operator = useStore((state) => state.config?.operator ?? false);
  const person = useStore((state) => state.config?.person ?? null);
  const account = useLater(() => import("../later/account.js"), person !== null);
  const budget = useStore((state) => state.config?.budget ?? null);
  return html`
    <footer class="preferences">
      ${account && person && html`<${account.Account} person=${person} />`}
      <${IconButton} icon=${theme.icon} label=${`${t("theme")}: ${t(theme.words)}`} onClick=${() => setTheme(theme.next)} />
      <${LanguageChoice} />
      <span></span>
      ${operator && html`<a class="quiet" href=${`${ROOT}/settings`}><${Icon} name="gear" />${t("serverSettings")}</a>`}
      <a class="quiet" href=${`${ROOT}/docs?lang=${getLanguage()}`} target="_blank"><${Icon} name="book" />${t("docs")}</a>
      <p class="hint"><a href=${`${ROOT}/usage`}>${t("myUsage")}</a>${operator && html`<a href=${`${ROOT}/board`}>${t("board")}</a>`}</p>
      ${budget && html`<p class="hint budget">${left(budget).join(" · ")}</p>`}
    </footer>
  `;
}

/** @param {Budget} budget @returns {string[]} what is left of it in this month */
function left(budget) {
  const count = new Intl.NumberFormat(getLanguage());
  const pairs = /** @type {const} */ ([
    ["searchesLeft", budget.searches, budget.usedSearches],
    ["tokensLeft", budget.modelTokens, budget.usedModelTokens],
  ]);
  return pairs.flatMap(([words, limit, used]) => (limit === null ? [] : t(words, { count: count.format(Math.max(limit - used, 0)) })));
}

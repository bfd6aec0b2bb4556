/** The board of who runs the server, and under /usage a person's own figures. */
import { ApiError, call, keepToken, refusedWith } from "../api.js";
import { ROOT } from "../browser.js";
import { html } from "../html.js";
import { getLanguage, getTheme, listed, onPreferences, setTheme, t } from "../i18n.js";
import { Icon, IconButton } from "../parts/icons.js";
import { LanguageChoice } from "../parts/language.js";
import { useOffer } from "../parts/token.js";
import { useCallback, useEffect, useState } from "../vendor.js";
import { Figures } from "./figures.js";
import { tr } from "./telling.js";

const OWN = location.pathname === `${ROOT}/usage`;
const RANGES = /** @type {const} */ ([
  [1, "day1"],
  [7, "days7"],
  [30, "days30"],
  [90, "days90"],
]);
const HOURLY = 7;
const REFRESH_MS = 60_000;

function daysOfAddress() {
  const days = Number(new URLSearchParams(location.search).get("days"));
  return RANGES.some(([known]) => known === days) ? days : HOURLY;
}

/** @param {number} days @returns {string} what to ask the server for, without the path */
function query(days) {
  return `?days=${days}&by=${days <= HOURLY ? "hour" : "day"}`;
}

export function Board() {
  const [days, setDays] = useState(daysOfAddress);
  const [report, setReport] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {ApiError | null} */ (null));
  const [, redraw] = useState(0);
  const path = OWN ? "/api/usage" : "/api/board";
  const load = useCallback(async () => {
    try {
      setReport(await call("GET", `${path}${query(days)}`));
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof ApiError ? error : new ApiError(0));
    }
  }, [days]);
  useEffect(() => onPreferences(() => redraw((n) => n + 1)), []);
  useEffect(() => {
    void load();
    const timer = setInterval(() => document.hidden || load(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [load, getLanguage()]);
  useEffect(() => {
    document.title = listed(tr(OWN ? "ownTitle" : "title"), t("app"));
  });
  /** @param {number} chosen */
  const choose = (chosen) => {
    history.replaceState(null, "", `?days=${chosen}`);
    setDays(chosen);
  };
  return html`
    <div class="board" key=${getLanguage()} data-look=${getTheme()}>
      <header class="top">
        <a class="quiet" href=${`${ROOT}/`}><${Icon} name="forward" />${t("app")}</a>
        <h1>${tr(OWN ? "ownTitle" : "title")}</h1>
        <${Preferences} />
      </header>
      <main>
        ${problem && html`<${Problem} problem=${problem} again=${load} />`}
        ${report && !refused(problem)
          ? html`
              <nav class="ranges" aria-label=${tr("range")}>
                ${RANGES.map(
                  ([each, words]) => html`
                    <button type="button" key=${each} aria-pressed=${each === days} onClick=${() => choose(each)}>${tr(words)}</button>
                  `,
                )}
                <${IconButton} icon="retry" label=${tr("refresh")} onClick=${load} />
              </nav>
              <${Figures} report=${report} path=${path} query=${query(days)} own=${OWN} />
            `
          : !problem && html`<p class="hint" role="status">${tr("loading")}</p>`}
      </main>
      <footer>
        <p class="hint">
          ${report && tr(report.keptDays ? "kept" : "off", { days: report.keptDays })}
          ${" "}<a href=${`${ROOT}/docs/board?lang=${getLanguage()}`}>${tr("more")}</a>
          ${" "}${!OWN && html`<a href=${`${ROOT}/usage`}>${tr("ownTitle")}</a>`}
          ${report?.operator && html`<a href=${`${ROOT}/board`}>${tr("title")}</a>`}
        </p>
      </footer>
    </div>
  `;
}

/** @param {ApiError | null} problem @returns {boolean} nothing of the figures may be seen */
function refused(problem) {
  return refusedWith(problem, 401) || refusedWith(problem, 403);
}

/** @param {{problem: ApiError, again: () => Promise<void>}} props */
function Problem({ problem, again }) {
  const [tried, setTried] = useState(0);
  const { offer, SignIn } = useOffer(problem.status === 401);
  if (problem.status !== 401) {
    return html`
      <div class="problem" role="alert">
        <p>${problem.status ? problem.message : tr("silent")}</p>
        ${problem.fix && html`<p class="hint">${problem.fix}</p>`}
        ${problem.status !== 403 && html`<button type="button" onClick=${again}>${tr("refresh")}</button>`}
      </div>
    `;
  }
  /** @param {SubmitEvent} event */
  const enter = async (event) => {
    event.preventDefault();
    const field = /** @type {HTMLFormElement} */ (event.currentTarget).elements.namedItem("token");
    keepToken(/** @type {HTMLInputElement} */ (field).value.trim());
    setTried(tried + 1);
    await again();
  };
  return html`
    ${SignIn && html`<div class="problem"><${SignIn} over=${offer.over} /></div>`}
    ${offer?.tokens &&
    html`<form class="problem" onSubmit=${enter}>
      <p>${t("tokenAbout")}</p>
      <label>${t("token")} <input name="token" type="password" autocomplete="off" required autofocus /></label>
      <button type="submit" class="primary">${t("enter")}</button>
      <p role="alert" class="wrong">${tried ? t("tokenWrong") : ""}</p>
    </form>`}
  `;
}

const THEMES = /** @type {const} */ ({
  auto: { next: "light", icon: "auto", words: "themeAuto" },
  light: { next: "dark", icon: "sun", words: "themeLight" },
  dark: { next: "auto", icon: "moon", words: "themeDark" },
});

function Preferences() {
  const theme = THEMES[getTheme()];
  return html`
    <div class="preferences">
      <${IconButton} icon=${theme.icon} label=${`${t("theme")}: ${t(theme.words)}`} onClick=${() => setTheme(theme.next)} />
      <${LanguageChoice} />
    </div>
  `;
}

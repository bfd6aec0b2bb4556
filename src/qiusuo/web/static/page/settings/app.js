/** The settings page: a list of its parts, and the parts. */
import { call } from "../api.js";
import { ROOT } from "../browser.js";
import { html } from "../html.js";
import { getLanguage, getTheme, onPreferences } from "../i18n.js";
import { Icon } from "../parts/icons.js";
import { Toasts } from "../parts/toasts.js";
import { TokenDialog } from "../parts/token.js";
import { change, useStore } from "../store.js";
import { useEffect, useState } from "../vendor.js";
import { getDesk, load, onDesk } from "./desk.js";
import { DoctorSheet } from "./doctor.js";
import { EnginesSheet } from "./engines.js";
import { lookAgain } from "./look.js";
import { ModelSheet } from "./model.js";
import { LookSheet, PrivacySheet, SearxngSheet } from "./others.js";
import { PacksSheet } from "./packs.js";
import { PeopleSheet } from "./people.js";
import { tr } from "./tr.js";

/** @import { Desk } from "./desk.js" */

/** Read everything; again after a token was given. */
export async function start() {
  change({ locked: false });
  await load();
  if (!getDesk().data) return;
  // How our command is typed on this server; nothing else of it is needed here.
  const config = await call("GET", "/api/chat/config").catch(() => null);
  if (config) change({ config });
}

export function App() {
  const [, redraw] = useState(0);
  const locked = useStore((state) => state.locked);
  const desk = getDesk();
  useEffect(() => {
    let told = getLanguage();
    onDesk(() => redraw((count) => count + 1));
    onPreferences(() => {
      redraw((count) => count + 1);
      if (told === getLanguage()) return;
      told = getLanguage();
      void load(); // what the server says is in the reader's language too
      void lookAgain();
    });
    window.addEventListener("beforeunload", (event) => {
      if (Object.keys(getDesk().drafts).length) event.preventDefault();
    });
  }, []);
  useEffect(() => {
    document.title = `${tr("title")} · ${tr("app")}`;
  });
  return html`
    <div class="settings-page" data-look=${getTheme()}>
      <a class="skip" href="#content">${tr("skip")}</a>
      <${Side} whole=${desk.data !== null} packs=${desk.packs} />
      <main id="content" tabindex="-1">
        <h1>${tr("title")}</h1>
        <${Content} desk=${desk} />
      </main>
      <${Toasts} />
      ${locked && html`<${TokenDialog} onEnter=${start} />`}
    </div>
  `;
}

/** @param {{whole: boolean, packs: boolean}} props */
function Side({ whole, packs }) {
  return html`
    <nav class="side" aria-label=${tr("parts")}>
      <a class="quiet back" href=${`${ROOT}/`}><${Icon} name="back" />${tr("back")}</a>
      ${whole &&
      html`
        <ul>
          <li><a href="#model">${tr("model")}</a></li>
          <li><a href="#engines">${tr("engines")}</a></li>
          <li><a href="#searxng">SearXNG</a></li>
          ${packs && html`<li><a href="#packs">${tr("packs")}</a></li>`}
          <li><a href="#look">${tr("look")}</a></li>
          <li><a href="#privacy">${tr("privacy")}</a></li>
          <li><a href="#people">${tr("people")}</a></li>
          <li><a href="#doctor">${tr("doctor")}</a></li>
        </ul>
      `}
      <ul class="elsewhere">
        ${whole && html`<li><a href=${`${ROOT}/board`}>${tr("board")}</a></li>`}
        <li><a href=${`${ROOT}/usage`}>${tr("usage")}</a></li>
        <li><a href=${`${ROOT}/docs?lang=${getLanguage()}`} target="_blank">${tr("docs")}</a></li>
      </ul>
    </nav>
  `;
}

/** @param {{desk: Desk}} props */
function Content({ desk }) {
  const { data, refused, failed } = desk;
  useEffect(() => {
    // What the address names is there only now.
    if (data && location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [data !== null]);
  if (refused) {
    return html`
      <section class="sheet" role="alert">
        <h2>${tr("notOperator")}</h2>
        <p>${refused.fix}</p>
      </section>
    `;
  }
  if (failed && !data) {
    return html`
      <section class="sheet" role="alert">
        <h2>${tr("cannotRead")}</h2>
        <p>${failed}</p>
        <p><button type="button" onClick=${() => void start()}>${tr("retry")}</button></p>
      </section>
    `;
  }
  if (!data) return html`<p class="lead" role="status">${tr("reading")}</p>`;
  return html`
    <p class="lead">${data.file ? html`${tr("file")} <code>${data.file}</code>` : tr("noFile")}</p>
    ${data.problem && html`<p class="fault" role="alert">${data.problem.message} ${data.problem.fix}</p>`}
    ${!data.writable && !data.problem && html`<p class="fault" role="alert">${tr("notWritable")}</p>`}
    <${ModelSheet} data=${data} />
    <${EnginesSheet} data=${data} />
    <${SearxngSheet} data=${data} />
    <${PacksSheet} />
    <${LookSheet} />
    <${PrivacySheet} data=${data} />
    <${PeopleSheet} />
    <${DoctorSheet} />
  `;
}

/** Packs of laws, where a plug-in has some: fetched, brought up to date, removed; and how far that is. */
import { call, refusedWith } from "../api.js";
import { html } from "../html.js";
import { getLanguage } from "../i18n.js";
import { useEffect, useState } from "../vendor.js";
import { put, reasonOf } from "./desk.js";
import { Sheet } from "./sheet.js";
import { tr } from "./tr.js";

/** @import { Held, Pack } from "./types.js" */

const PROGRESS_MS = 2000;

export function PacksSheet() {
  const [packs, setPacks] = useState(/** @type {Pack[]} */ ([]));
  const [held, setHeld] = useState(/** @type {Held | null} */ (null));
  const [failed, setFailed] = useState("");
  const [looks, setLooks] = useState(0);
  useEffect(() => {
    let timer = 0;
    let gone = false;
    call("GET", "/api/legal/packs")
      .then((found) => {
        if (gone) return;
        setPacks(found.packs);
        setHeld(found.index);
        put({ packs: found.packs.length > 0 });
        if (found.packs.some(isWorking)) timer = window.setTimeout(() => setLooks((count) => count + 1), PROGRESS_MS);
      })
      .catch((error) => {
        if (!gone && !refusedWith(error, 404)) setFailed(reasonOf(error));
      });
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [looks, getLanguage()]);
  /** @param {"POST" | "DELETE"} method @param {string} name */
  const ask = async (method, name) => {
    setFailed("");
    await call(method, `/api/legal/packs/${encodeURIComponent(name)}`, {}).catch((error) => setFailed(reasonOf(error)));
    setLooks((count) => count + 1);
  };
  if (!packs.length && !failed) return null;
  return html`
    <${Sheet} id="packs" title=${tr("packs")} about=${tr("packsAbout")}>
      ${failed && html`<p class="fault" role="alert">${failed}</p>`}
      ${held && html`<p class="held">${tr("lawsHeld", { ...held })} ${held.statutes && tr("statutesHeld")}</p>`}
      <ul class="engines">
        ${packs.map((pack) => html`<${PackCard} key=${pack.name} pack=${pack} busy=${packs.some(isWorking)} onAsk=${ask} />`)}
      </ul>
    <//>
  `;
}

/** @param {Pack} pack @returns {boolean} */
function isWorking({ state }) {
  return state === "installing" || state === "removing";
}

/** @param {{pack: Pack, busy: boolean, onAsk: (method: "POST" | "DELETE", name: string) => void}} props */
function PackCard({ pack, busy, onAsk }) {
  const { name, installed } = pack;
  /** @param {string} words @param {"POST" | "DELETE"} method */
  const button = (words, method) => html`
    <button type="button" aria-label=${`${words}: ${name}`} disabled=${busy} onClick=${() => onAsk(method, name)}>${words}</button>
  `;
  return html`
    <li class="card">
      <div class="engine-line">
        <span class="engine-name">
          <b>${name}</b><span class=${installed ? "state good" : "state"}>${installed ? tr("packThere") : tr("packAbsent")}</span>
        </span>
        ${installed ? button(tr("update"), "POST") : button(tr("fetch"), "POST")} ${installed && button(tr("remove"), "DELETE")}
      </div>
      <p class="about">${pack.what}</p>
      <p class="about">${pack.download_mb ? tr("packSize", { size: pack.download_mb }) : tr("packSizeOpen")} ${pack.licence}</p>
      ${pack.words && html`<p class=${pack.state === "failed" ? "wrong" : "about"} role="status">${pack.words}</p>`}
      ${isWorking(pack) && html`<progress aria-label=${name} value=${pack.done ?? undefined} max=${pack.total ?? undefined}></progress>`}
    </li>
  `;
}

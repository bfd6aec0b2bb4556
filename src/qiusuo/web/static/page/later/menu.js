/** What can be done with a conversation, an answer, or all conversations: links, files, print, public links, import. */
import { call, download, sessionPath } from "../api.js";
import { messageOf } from "../failures.js";
import { html } from "../html.js";
import { copy } from "../parts/copy.js";
import { getState } from "../store.js";
import { render, useEffect, useLayoutEffect, useRef, useState } from "../vendor.js";
import { ImportButton } from "./import.js";
import { OwnData } from "./owndata.js";
import { PublicLink, SharedLinks } from "./sharing.js";
import { tr } from "./tr.js";
import { loadStyle } from "./style.js";

/** @typedef {{session?: string, turn?: string}} About neither: all conversations; a turn is one of the shown conversation */

const KINDS = /** @type {const} */ ([
  ["md", "Markdown"],
  ["html", "HTML"],
  ["json", "JSON"],
]);

/** @param {About} about */
export async function openMenu(about) {
  await loadStyle("menu.css");
  const session = about.session ?? (about.turn && getState().current?.id);
  const opener = /** @type {HTMLElement | null} */ (document.activeElement);
  const place = document.createElement("div");
  document.body.append(place);
  const close = () => {
    render(null, place);
    place.remove();
    if (opener?.isConnected) opener.focus();
  };
  render(html`<${Menu} session=${session || ""} turn=${about.turn ?? ""} onClose=${close} />`, place);
}

/** @param {{session: string, turn: string, onClose: () => void}} props */
function Menu({ session, turn, onClose }) {
  /** @type {{current: HTMLDialogElement | null}} */
  const box = useRef(null);
  useLayoutEffect(() => {
    box.current?.showModal();
  }, []);
  const [said, setSaid] = useState("");
  /** @type {[{sharing: boolean, shares: import("./sharing.js").Share[]} | null, (found: any) => void]} */
  const [shared, setShared] = useState(/** @type {any} */ (null));
  const look = () =>
    call("GET", "/api/chat/shares")
      .then(setShared)
      .catch((error) => setSaid(messageOf(error)));
  useEffect(() => void look(), []);
  const title = tr(turn ? "ofAnswer" : session ? "ofConversation" : "ofAll");
  return html`
    <dialog ref=${box} class="menu" aria-labelledby="menu-title" onClose=${onClose}>
      <header>
        <h2 id="menu-title">${title}</h2>
        <button type="button" class="quiet" onClick=${() => box.current?.close()}>${tr("close")}</button>
      </header>
      ${session && html`<${Taking} session=${session} turn=${turn} close=${() => box.current?.close()} tell=${setSaid} />`}
      ${session && shared && html`<${PublicLink} session=${session} turn=${turn} open=${shared.sharing} onMade=${look} />`}
      ${!session && html`<${ImportButton} close=${() => box.current?.close()} tell=${setSaid} />`}
      ${!session && shared && html`<${SharedLinks} shares=${shared.shares} onChange=${look} close=${() => box.current?.close()} tell=${setSaid} />`}
      ${!session && html`<${OwnData} close=${() => box.current?.close()} tell=${setSaid} />`}
      <p class="menu-said" role="status">${said}</p>
    </dialog>
  `;
}

/** @param {{session: string, turn: string, close: () => void, tell: (text: string) => void}} props */
function Taking({ session, turn, close, tell }) {
  const link = () => {
    const to = turn ? `${session}/${turn}` : session;
    // Behind the dialog neither the confirmation is seen nor can the page select what it copies.
    close();
    void copy(`${location.origin}${location.pathname}#/s/${to}`);
  };
  /** @param {string} kind */
  const save = async (kind) => {
    const path = turn ? `/turns/${encodeURIComponent(turn)}/report.${kind}` : `/export.${kind}`;
    const name = `${turn ? "report" : "conversation"}.${kind}`;
    try {
      await download(sessionPath(session, path), name);
      close();
    } catch (error) {
      tell(messageOf(error));
    }
  };
  const print = () => {
    close();
    setTimeout(() => globalThis.print());
  };
  const shown = getState().current?.id === session;
  return html`
    <section aria-labelledby="menu-link">
      <button type="button" id="menu-link" class="primary" onClick=${link}>${tr("copyLink")}</button>
      <p class="hint">${tr("copyLinkAbout")}</p>
    </section>
    <section>
      <h3 id="menu-save">${tr("save")}</h3>
      <p class="menu-row" role="group" aria-labelledby="menu-save">
        ${KINDS.map(([kind, name]) => html`<button key=${kind} type="button" onClick=${() => void save(kind)}>${name}</button>`)}
        ${shown && !turn && html`<button type="button" onClick=${print}>${tr("print")}</button>`}
      </p>
    </section>
  `;
}

/** Public links: made, listed, ended. */
import { call, sessionPath } from "../api.js";
import { messageOf } from "../failures.js";
import { html } from "../html.js";
import { formatDay, listed } from "../i18n.js";
import { getState } from "../store.js";
import { useRef, useState } from "../vendor.js";
import { tr } from "./tr.js";

/** @typedef {{id: string, session: string, title: string, createdAt: string, endsAt: string | null}} Share */

const PERIODS = [7, 30, 365];

/** @param {{session: string, turn: string, open: boolean, onMade: () => void}} props `open`: links may be made here */
export function PublicLink({ session, turn, open, onMade }) {
  const [days, setDays] = useState("30");
  const [link, setLink] = useState("");
  const [fault, setFault] = useState("");
  const [copied, setCopied] = useState(false);
  /** @type {{current: HTMLInputElement | null}} */
  const field = useRef(null);
  if (!open) {
    const off = tr(getState().config?.operator ? "sharingOffHere" : "sharingOff");
    return html`<section><h3>${tr("publicLink")}</h3><p class="hint">${off}</p></section>`;
  }
  const make = async () => {
    try {
      const wanted = { ...(turn && { until: turn }), ...(days && { days: Number(days) }) };
      const { path } = await call("POST", sessionPath(session, "/shares"), wanted);
      setFault("");
      setCopied(false);
      setLink(`${location.origin}${path}`);
      onMade();
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  const take = async () => {
    field.current?.select(); // so that it can be copied by hand, too
    const written = navigator.clipboard?.writeText(link) ?? Promise.reject(new Error("not a secure context"));
    setCopied(
      await written.then(
        () => true,
        () => document.execCommand("copy"),
      ),
    );
  };
  return html`
    <section>
      <h3>${tr("publicLink")}</h3>
      <p class="hint">${tr("publicLinkAbout")}</p>
      <p class="menu-row">
        <label>
          ${tr("endsAfter")}${" "}
          <select value=${days} onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ event) => setDays(event.currentTarget.value)}>
            ${PERIODS.map((count) => html`<option key=${count} value=${String(count)}>${tr("days", { count })}</option>`)}
            <option value="">${tr("never")}</option>
          </select>
        </label>
        <button type="button" onClick=${() => void make()}>${tr("create")}</button>
      </p>
      ${link &&
      html`<p class="hint" role="status">${tr("created")}</p>
        <p class="menu-row">
          <input ref=${field} class="menu-link" readonly aria-label=${tr("publicLink")} value=${link} />
          <button type="button" onClick=${() => void take()}>${copied ? tr("copied") : tr("copyLink")}</button>
        </p>`}
      ${fault && html`<p role="alert" class="menu-fault">${fault}</p>`}
    </section>
  `;
}

/** @param {{shares: Share[], onChange: () => void, close: () => void, tell: (text: string) => void}} props */
export function SharedLinks({ shares, onChange, close, tell }) {
  /** @param {Share} share */
  const end = async (share) => {
    try {
      await call("DELETE", `/api/chat/shares/${encodeURIComponent(share.id)}`);
      tell(tr("ended"));
      onChange();
    } catch (error) {
      tell(messageOf(error));
    }
  };
  return html`
    <section>
      <h3>${tr("yourLinks")}</h3>
      ${shares.length === 0 && html`<p class="hint">${tr("noLinks")}</p>`}
      <ul class="menu-shares">
        ${shares.map((share) => {
          const title = share.title || tr("untitled");
          const times = listed(
            tr("since", { day: formatDay(share.createdAt) }),
            share.endsAt && tr("until", { day: formatDay(share.endsAt) }),
          );
          return html`<li key=${share.id}>
            <span><a href=${`#/s/${share.session}`} onClick=${close}>${title}</a><small>${times}</small></span>
            <button type="button" class="danger" aria-label=${tr("endOf", { title })} onClick=${() => void end(share)}>${tr("end")}</button>
          </li>`;
        })}
      </ul>
    </section>
  `;
}

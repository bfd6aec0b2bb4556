/** A part of the page, with what is saved of it at once. */
import { html } from "../html.js";
import { useRef } from "../vendor.js";
import { changedIn, discard, getDesk, save } from "./desk.js";
import { Clash } from "./fields.js";
import { parted } from "./labels.js";
import { lookAfterSaving } from "./look.js";
import { tr } from "./tr.js";

/** @import { Part } from "./desk.js" */

/** @param {{id: string, title: string, about?: any, children?: any}} props */
export function Sheet({ id, title, about, children }) {
  return html`
    <section class="sheet" id=${id} aria-labelledby=${`${id}-title`} tabindex="-1">
      <h2 id=${`${id}-title`}>${title}</h2>
      ${about && html`<p class="lead">${about}</p>`} ${children}
    </section>
  `;
}

/** @param {{part: Part, title: string, about?: any, children?: any}} props */
export function SavedSheet({ part, title, about, children }) {
  /** @type {{current: HTMLFormElement | null}} */
  const form = useRef(null);
  const { clashes, faults, saving, data } = getDesk();
  const changed = changedIn(part);
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    if (await save(part)) lookAfterSaving();
    else setTimeout(() => focusWrong(form.current)); // once it is drawn
  };
  return html`
    <${Sheet} id=${part} title=${title} about=${about}>
      <form ref=${form} class="settings-form" novalidate onSubmit=${submit}>
        ${children} ${(clashes[part] ?? []).filter(standsAlone).map((name) => html`<${Clash} key=${name} name=${name} />`)}
        ${faults[part] && html`<p class="fault" role="alert" tabindex="-1">${faults[part]}</p>`}
        ${changed.length > 0 &&
        html`
          <footer class="save-bar">
            <span role="status">${tr("unsavedCount", { count: changed.length })}</span>
            <button type="button" onClick=${() => discard(part)}>${tr("discard")}</button>
            <button type="submit" class="primary" disabled=${!data?.writable || saving !== null}>
              ${saving === part ? tr("saving") : tr("save")}
            </button>
          </footer>
        `}
      </form>
    <//>
  `;
}

/** @param {HTMLElement | null} form */
function focusWrong(form) {
  const first = form?.querySelector('[aria-invalid="true"]') ?? form?.querySelector(".fault");
  if (first instanceof HTMLElement) first.focus();
}

/** @param {string} name @returns {boolean} it has no field of its own: the order of the engines, a whole model */
function standsAlone(name) {
  return name === "provider_priority" || (name.startsWith("models.") && !parted(name)[2]);
}

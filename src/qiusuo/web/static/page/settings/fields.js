/** Single settings: a label, a field, where the value comes from, and what is wrong with it. */
import { html } from "../html.js";
import { useEffect, useRef, useState } from "../vendor.js";
import { REMOVED, edit, editSecret, getDesk, isChanged, savedValue, valueOf } from "./desk.js";
import { labelOf } from "./labels.js";
import { tr } from "./tr.js";

/** @import { Origin, Secret } from "./types.js" */
/** @typedef {{source: Origin | null, variable: string}} Where */
/** @typedef {{currentTarget: HTMLInputElement | HTMLSelectElement}} Typed */

/** @param {string} name @returns {string} what the page calls the field of a setting */
export function idOf(name) {
  return `set-${name.replace(/[^\w-]/g, (sign) => `_${sign.codePointAt(0)}`)}`;
}

/** @param {string} name @returns {Where} */
export function whereOf(name) {
  const { source = null, variable = "" } = getDesk().data?.fields[name] ?? {};
  return { source, variable };
}

/** @param {Where | undefined} where @returns {boolean} the environment says so, and nobody else can */
export function isFixed(where) {
  return where?.source === "environment";
}

/** @param {string} name @param {boolean} more @returns {Record<string, string | undefined>} what a field is described by */
function described(name, more) {
  const wrong = getDesk().errors[name];
  const ids = [wrong && `${idOf(name)}-wrong`, more && `${idOf(name)}-about`].filter(Boolean).join(" ");
  return { "aria-describedby": ids || undefined, "aria-invalid": wrong ? "true" : undefined };
}

/**
 * The frame around a field.
 *
 * @param {{name: string, label: string, about?: any, where?: Where, children?: any, labelled?: boolean}} props
 *   `labelled`: there is one field to which the label belongs
 */
export function Row({ name, label, about, where, children, labelled = true }) {
  const wrong = getDesk().errors[name];
  const note = isFixed(where) ? tr("fromEnvironment", { variable: where?.variable ?? "" }) : about;
  const later = getDesk().data?.fields[name]?.restart && tr("afterRestart");
  const changed = isChanged(name) && html`<span class="mark">${tr("unsaved")}</span>`;
  return html`
    <div class=${changed ? "row changed" : "row"} data-name=${name}>
      ${labelled
        ? html`<label class="name" for=${idOf(name)}>${label}${changed}</label>`
        : html`<span class="name" id=${`${idOf(name)}-name`}>${label}${changed}</span>`}
      <div class="control">${children}</div>
      ${wrong && html`<p class="wrong" id=${`${idOf(name)}-wrong`}>${wrong}</p>`}
      <${Clash} name=${name} />
      ${(note || later) && html`<p class="about" id=${`${idOf(name)}-about`}>${note} ${later}</p>`}
    </div>
  `;
}

/** Somebody else was faster: what they have saved, while what was typed here stays. @param {{name: string}} props */
export function Clash({ name }) {
  const { clashes, data } = getDesk();
  if (!data || !Object.values(clashes).some((names) => names.includes(name))) return null;
  return html`
    <div class="fault" role="alert" tabindex="-1">
      <p>${tr("clash")} <b>${labelOf(name, data)}${tr("colon")}${told(savedValue(data, name))}</b></p>
      <p>${tr("clashAbout")}</p>
    </div>
  `;
}

/** @param {any} value @returns {string} */
function told(value) {
  if (value === true) return tr("isSet");
  if (value === false || value === null || value === undefined || value === "") return tr("isNotSet");
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/**
 * @param {{name: string, label: string, about?: any, where?: Where, placeholder?: string, options?: string[],
 *   numeric?: boolean, children?: any}} props `options`: what may be chosen instead of typed
 */
export function TextRow({ name, label, about, where, placeholder = "", options, numeric = false, children }) {
  const list = options?.length ? `${idOf(name)}-list` : undefined;
  const fixed = isFixed(where);
  return html`
    <${Row} name=${name} label=${label} about=${about} where=${where}>
      <input
        id=${idOf(name)}
        class=${numeric ? "number" : ""}
        value=${String(valueOf(name))}
        placeholder=${placeholder}
        disabled=${fixed}
        inputmode=${numeric ? "decimal" : undefined}
        autocomplete="off"
        spellcheck=${false}
        list=${list}
        ...${described(name, Boolean(about) || fixed)}
        onInput=${({ currentTarget }) => edit(name, currentTarget.value)}
      />
      ${list && html`<datalist id=${list}>${options?.map((one) => html`<option key=${one} value=${one}></option>`)}</datalist>`}
      ${children}
    <//>
  `;
}

/**
 * @param {{name: string, label: string, about?: any, where?: Where, options: [string, string][],
 *   read?: (value: any) => string, write?: (text: string) => any}} props `options`: values with their words
 */
export function ChoiceRow({ name, label, about, where, options, read = String, write = (text) => text }) {
  const fixed = isFixed(where);
  return html`
    <${Row} name=${name} label=${label} about=${about} where=${where}>
      <select
        id=${idOf(name)}
        value=${read(valueOf(name))}
        disabled=${fixed}
        ...${described(name, Boolean(about) || fixed)}
        onChange=${(/** @type {Typed} */ { currentTarget }) => edit(name, write(currentTarget.value))}
      >
        ${options.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}
      </select>
    <//>
  `;
}

/**
 * A key can be written, never read.
 *
 * @param {{name: string, label: string, secret: Secret, about?: any, wanted?: boolean, children?: any}} props
 *   `wanted`: the stored one goes, and another is asked for
 */
export function SecretRow({ name, label, secret, about, wanted = false, children }) {
  const [replacing, setReplacing] = useState(false);
  /** @type {{current: HTMLInputElement | null}} */
  const input = useRef(null);
  const { drafts, errors } = getDesk();
  const draft = drafts[name];
  const fixed = secret.source === "environment";
  const removed = draft === REMOVED && !wanted;
  const open = !fixed && !removed && (!secret.set || replacing || draft !== undefined || Boolean(errors[name]));
  useEffect(() => {
    if (replacing) input.current?.focus();
  }, [replacing]);
  useEffect(() => setReplacing(false), [secret]); // saved
  const back = () => {
    setReplacing(false);
    editSecret(name, "");
  };
  const state = removed ? tr("keyGoes") : fixed ? tr("keySetEnvironment", { variable: secret.variable }) : tr("keySetFile");
  /** @param {string} words @param {() => void} act */
  const button = (words, act) =>
    html`<button type="button" aria-label=${`${words}: ${label}`} onClick=${act}>${words}</button>`;
  return html`
    <${Row} name=${name} label=${label} about=${about} labelled=${open}>
      ${open
        ? html`<input
            ref=${input}
            id=${idOf(name)}
            type="password"
            value=${typeof draft === "string" ? draft : ""}
            placeholder=${tr("keyPaste")}
            autocomplete="off"
            spellcheck=${false}
            ...${described(name, Boolean(about))}
            onInput=${(/** @type {Typed} */ { currentTarget }) => editSecret(name, currentTarget.value || (wanted ? REMOVED : ""))}
          />`
        : html`<span class=${removed ? "state" : "state good"}>${state}</span>`}
      ${open && secret.set && !wanted && button(tr("cancel"), back)}
      ${!open && !fixed && !removed && button(tr("replace"), () => setReplacing(true))}
      ${!open && !fixed && !removed && button(tr("remove"), () => editSecret(name, REMOVED))}
      ${removed && button(tr("undo"), back)} ${children}
    <//>
  `;
}

/**
 * @param {{label: string, on: boolean, disabled?: boolean, describedBy?: string, id?: string, onChange: (on: boolean) => void}} props
 */
export function Toggle({ label, on, disabled = false, describedBy, id, onChange }) {
  return html`
    <button
      type="button"
      role="switch"
      id=${id}
      class=${on ? "switch on" : "switch"}
      aria-checked=${on ? "true" : "false"}
      aria-label=${label}
      aria-describedby=${describedBy}
      disabled=${disabled}
      onClick=${() => onChange(!on)}
    >
      <span class="knob"></span>
    </button>
  `;
}

/** People: who has a token, what each may use and has used, and who did what. */
import { call, keepToken, refusedWith } from "../api.js";
import { ROOT } from "../browser.js";
import { messageOf } from "../failures.js";
import { html } from "../html.js";
import { getLanguage } from "../i18n.js";
import { CopyButton } from "../parts/copy.js";
import { useEffect, useRef, useState } from "../vendor.js";
import { Sheet } from "./sheet.js";
import { tr } from "./tr.js";

/** @import { AuditLine, PeopleData, Person } from "./types.js" */

const NUMBERS = /** @type {const} */ (["days", "perMinute", "searches", "modelTokens"]);
const LISTS = /** @type {const} */ (["engines", "models"]);
const LINES = 20;

export function PeopleSheet() {
  const [data, setData] = useState(/** @type {PeopleData | null} */ (null));
  const [absent, setAbsent] = useState(false);
  const [failed, setFailed] = useState("");
  const [told, setTold] = useState(/** @type {{name: string, secret: string} | null} */ (null));
  const [edited, setEdited] = useState(/** @type {string | null} */ (null));
  const [looks, setLooks] = useState(0);
  useEffect(() => {
    call("GET", "/api/people")
      .then(setData)
      .catch((error) => (refusedWith(error, 404) ? setAbsent(true) : setFailed(messageOf(error))));
  }, [looks]);
  /** @param {string} method @param {string} path @param {object} [body] */
  const ask = async (method, path, body) => {
    setFailed("");
    try {
      const answer = await call(method, `/api/people${path}`, body);
      // From the first token on nobody comes in without one: this page goes on with it.
      if (answer?.secret && data && !data.people.length && !data.inSettings.length) keepToken(answer.secret);
      setTold(answer?.secret ? { name: answer.person.name, secret: answer.secret } : null);
      setEdited(null);
      setLooks((count) => count + 1);
    } catch (error) {
      setFailed(messageOf(error));
    }
  };
  return html`
    <${Sheet} id="people" title=${tr("people")} about=${tr("peopleAbout")}>
      ${failed && html`<p class="fault" role="alert">${failed}</p>`} ${told && html`<${Secret} ...${told} />`}
      ${data &&
      html`
        <ul class="engines">
          ${data.people.map(
            (person) => html`
              <${PersonCard}
                key=${person.name}
                person=${person}
                data=${data}
                open=${edited === person.name}
                onOpen=${() => setEdited(edited === person.name ? null : person.name)}
                onAsk=${ask}
              />
            `,
          )}
        </ul>
        ${data.inSettings.length > 0 && html`<p class="about">${tr("peopleInSettings", { names: data.inSettings.join(", ") })}</p>`}
        ${edited === ""
          ? html`<${Limits} data=${data} person=${null} onCancel=${() => setEdited(null)} onSave=${(/** @type {object} */ body) => void ask("POST", "", body)} />`
          : html`<p><button type="button" onClick=${() => setEdited("")}>${tr("addPerson")}</button></p>`}
      `}
      ${absent && html`<p class="command"><code>QIUSUO_TOKENS=anna:…:operator,ben:…</code></p>`}
      <p><a href=${`${ROOT}/docs/people?lang=${getLanguage()}`} target="_blank">${tr("peopleDocs")}</a></p>
      ${data && html`<${Audit} looks=${looks} />`}
    <//>
  `;
}

/** @param {{name: string, secret: string}} props */
function Secret({ name, secret }) {
  /** @type {{current: HTMLElement | null}} */
  const box = useRef(null);
  useEffect(() => box.current?.focus(), [secret]);
  return html`
    <div class="card changed" ref=${box} tabindex="-1" role="status">
      <p>${tr("shownOnce", { name })}</p>
      <p class="command"><code>${secret}</code></p>
      <p><${CopyButton} text=${secret} /></p>
    </div>
  `;
}

/** @param {{person: Person, data: PeopleData, open: boolean, onOpen: () => void, onAsk: (method: string, path: string, body?: object) => Promise<void>}} props */
function PersonCard({ person, data, open, onOpen, onAsk }) {
  const { name } = person;
  const [asks, setAsks] = useState("");
  useEffect(() => setAsks(""), [open]);
  const path = `/${encodeURIComponent(name)}`;
  /** @param {string} words @param {() => void} onClick @param {string} [kind] */
  const button = (words, onClick, kind = "") =>
    html`<button type="button" class=${kind} aria-label=${`${words}: ${name}`} onClick=${onClick}>${words}</button>`;
  const sure = { rotate: tr("rotateSure", { name }), revoke: tr("revokeSure", { name }) };
  return html`
    <li class="card">
      <div class="engine-line">
        <span class="engine-name">
          <b>${name}</b><span class="state">${person.role === "operator" ? tr("roleOperator") : tr("roleUser")}</span>
          ${person.ended && html`<span class="state">${tr("tokenEnded")}</span>`}
        </span>
        ${button(tr("edit"), onOpen)}
      </div>
      <p class="about">
        <code>${person.token}</code> ${tr("lastUsed", { day: person.usedAt?.slice(0, 10) ?? "–" })}
        ${person.endsAt && tr("endsOn", { day: person.endsAt.slice(0, 10) })}
      </p>
      <p class="about">${usedOf("usedSearches", person.usedSearches, person.searches)} ${usedOf("usedTokens", person.usedModelTokens, person.modelTokens)}</p>
      ${open &&
      html`
        <${Limits} data=${data} person=${person} onCancel=${onOpen} onSave=${(/** @type {object} */ body) => void onAsk("PATCH", path, body)} />
        ${asks
          ? html`
              <p role="alert">${sure[/** @type {"rotate" | "revoke"} */ (asks)]}</p>
              <p class="card-line">
                ${asks === "rotate"
                  ? button(tr("rotate"), () => void onAsk("POST", `${path}/rotate`, {}), "danger")
                  : button(tr("revoke"), () => void onAsk("DELETE", path, {}), "danger")}
                ${button(tr("cancel"), () => setAsks(""))}
              </p>
            `
          : html`<p class="card-line">${button(tr("rotate"), () => setAsks("rotate"))} ${button(tr("revoke"), () => setAsks("revoke"), "danger")}</p>`}
      `}
    </li>
  `;
}

/** @param {"usedSearches" | "usedTokens"} words @param {number} used @param {number | null} limit */
function usedOf(words, used, limit) {
  const count = new Intl.NumberFormat(getLanguage());
  return tr(words, { used: limit === null ? count.format(used) : `${count.format(used)} / ${count.format(limit)}` });
}

/** @param {{data: PeopleData, person: Person | null, onCancel: () => void, onSave: (body: object) => void}} props */
function Limits({ data, person, onCancel, onSave }) {
  const id = (/** @type {string} */ field) => `person-${person ? data.people.indexOf(person) : "new"}-${field}`;
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const text = (/** @type {string} */ field) => String(given.get(field) ?? "").trim();
    /** @type {Record<string, any>} */
    const body = { role: text("role") };
    // The days are counted from now on: none typed, nothing changes.
    for (const field of NUMBERS) if (field !== "days" || text(field)) body[field] = text(field) ? Number(text(field)) : null;
    for (const field of LISTS) body[field] = text(field) ? text(field).split(/[,，\s]+/) : null;
    onSave(person ? body : { ...body, name: text("name") });
  };
  /** @param {string} field @param {string} label @param {any} value @param {{about?: string, number?: boolean}} [more] */
  const row = (field, label, value, { about = "", number = false } = {}) => html`
    <div class="row">
      <label class="name" for=${id(field)}>${label}</label>
      <div class="control">
        <input
          id=${id(field)}
          name=${field}
          type=${number ? "number" : "text"}
          min=${number ? 1 : undefined}
          class=${number ? "number" : ""}
          defaultValue=${value ?? ""}
          required=${field === "name"}
          autocomplete="off"
          spellcheck=${false}
          aria-describedby=${about ? `${id(field)}-about` : undefined}
        />
      </div>
      ${about && html`<p class="about" id=${`${id(field)}-about`}>${about}</p>`}
    </div>
  `;
  return html`
    <form class="settings-form" onSubmit=${submit}>
      ${!person && row("name", tr("personName"), "")}
      <div class="row">
        <label class="name" for=${id("role")}>${tr("role")}</label>
        <div class="control">
          <select id=${id("role")} name="role">
            ${["user", "operator"].map(
              (role) => html`<option value=${role} selected=${role === (person?.role ?? firstRole(data))}>${role === "user" ? tr("roleUser") : tr("roleOperator")}</option>`,
            )}
          </select>
        </div>
      </div>
      ${row("days", tr("daysLeft"), null, { number: true, about: tr("daysAbout") })}
      ${row("perMinute", tr("perMinute"), person?.perMinute, { number: true })}
      ${row("searches", tr("searchesOfMonth"), person?.searches, { number: true })}
      ${row("modelTokens", tr("tokensOfMonth"), person?.modelTokens, { number: true })}
      ${row("engines", tr("onlyEngines"), person?.engines?.join(", "), { about: tr("thereAre", { names: data.choices.engines.join(", ") }) })}
      ${row("models", tr("onlyModels"), person?.models?.join(", "), { about: tr("thereAre", { names: data.choices.models.join(", ") }) })}
      <p class="card-line">
        <button type="submit" class="primary">${person ? tr("save") : tr("addPerson")}</button>
        <button type="button" onClick=${onCancel}>${tr("cancel")}</button>
      </p>
    </form>
  `;
}

/** @param {PeopleData} data @returns {string} the first token must be an operator's */
function firstRole(data) {
  return data.people.length || data.inSettings.length ? "user" : "operator";
}

/** @param {{looks: number}} props */
function Audit({ looks }) {
  const [open, setOpen] = useState(false);
  const [lines, setLines] = useState(/** @type {AuditLine[] | null} */ (null));
  const [failed, setFailed] = useState("");
  useEffect(() => {
    if (!open) return;
    call("GET", `/api/audit?limit=${LINES}`)
      .then((found) => setLines(found.lines))
      .catch((error) => setFailed(messageOf(error)));
  }, [open, looks, getLanguage()]);
  return html`
    <details class="fine" onToggle=${(/** @type {{currentTarget: HTMLDetailsElement}} */ { currentTarget }) => setOpen(currentTarget.open)}>
      <summary>${tr("audit")}</summary>
      ${failed && html`<p class="fault" role="alert">${failed}</p>`} ${lines && !lines.length && html`<p class="about">${tr("auditNone")}</p>`}
      <ul class="audit">
        ${lines?.map(
          (line) => html`
            <li key=${line.id}>
              <time datetime=${new Date(line.at * 1000).toISOString()}>${new Date(line.at * 1000).toLocaleString(getLanguage())}</time>
              <b>${line.who}</b> ${line.message} <span class="about">${line.address}</span>
            </li>
          `,
        )}
      </ul>
    </details>
  `;
}

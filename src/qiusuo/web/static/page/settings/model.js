/** Which model answers: the first, its second choice, further ones. */
import { call } from "../api.js";
import { html } from "../html.js";
import { useEffect, useRef, useState } from "../vendor.js";
import { REMOVED, edit, editSecret, getDesk, isChanged, put, reasonOf, savedValue, secretOf, valueOf } from "./desk.js";
import { ChoiceRow, Row, SecretRow, TextRow, idOf, isFixed, whereOf } from "./fields.js";
import { SavedSheet } from "./sheet.js";
import { tr } from "./tr.js";
import { TryButton } from "./trying.js";

/** @import { Provider, Secret, SettingsData } from "./types.js" */
/** @import { Typed, Where } from "./fields.js" */

const NAME = /^[A-Za-z0-9][\w.-]{0,39}$/;
const NO_KEY = { set: false, source: null, variable: "" };

/** @param {{data: SettingsData}} props */
export function ModelSheet({ data }) {
  const { added, drafts } = getDesk();
  const kept = data.models.map((model) => model.name).filter(Boolean);
  const names = [...kept, ...added.filter((name) => !kept.includes(name))];
  const left = names.filter((name) => drafts[`models.${name}`] !== REMOVED);
  return html`
    <${SavedSheet} part="model" title=${tr("model")} about=${tr("modelAbout")}>
      <${ModelFields} data=${data} name="" />
      <h3>${tr("moreModels")}</h3>
      <p class="lead">${tr("moreModelsAbout")}</p>
      ${names.map((name) => html`<${OtherModel} key=${name} data=${data} name=${name} isNew=${!kept.includes(name)} />`)}
      <${NewModel} names=${names} />
      ${left.length > 0 &&
      html`<${ChoiceRow}
        name="second_model"
        label=${tr("secondModel")}
        about=${tr("secondModelAbout")}
        where=${whereOf("second_model")}
        options=${[["", tr("none")], ...left.map((name) => [name, name])]}
      />`}
    <//>
  `;
}

/** @param {string} name @returns {Record<"model" | "base_url" | "api_key" | "context", string>} the settings of a model */
function settingsOf(name) {
  if (!name) return { model: "model", base_url: "model_base_url", api_key: "model_api_key", context: "model_context" };
  const prefix = `models.${name}`;
  return {
    model: `${prefix}.model`,
    base_url: `${prefix}.base_url`,
    api_key: `${prefix}.api_key`,
    context: `${prefix}.context`,
  };
}

/** @param {string} model @param {Provider[]} providers @returns {[string, string]} provider and name; "*" for one not listed */
function parted(model, providers) {
  const colon = model.indexOf(":");
  const provider = model.slice(0, Math.max(0, colon));
  if (colon > 0 && providers.some((one) => one.name === provider)) return [provider, model.slice(colon + 1)];
  return model && model !== "extractive" ? ["*", model] : ["", ""];
}

/** @param {string} name @returns {string | undefined} what was typed as a key, blank for none, undefined for the stored one */
function typedKey(name) {
  const draft = getDesk().drafts[name];
  if (draft === REMOVED) return "";
  return typeof draft === "string" ? draft.trim() : undefined;
}

/** Provider, name, address, key, context of one model. @param {{data: SettingsData, name: string}} props */
function ModelFields({ data, name }) {
  const names = settingsOf(name);
  const { saved } = getDesk();
  const where = name ? undefined : whereOf("model");
  const [provider, model] = parted(String(valueOf(names.model)), data.providers);
  const [typed, setTyped] = useState(false);
  const [listed, setListed] = useState({ models: /** @type {string[]} */ ([]), said: "" });
  const chosen = typed ? "*" : provider;
  useEffect(() => setTyped(false), [saved.count]);
  const [before] = parted(String(savedValue(data, names.model) ?? ""), data.providers);
  const vendor = data.providers.find((one) => one.name === chosen);
  const entry = data.models.find((one) => one.name === name);
  const secret = name ? (entry?.key ?? NO_KEY) : (entry?.key ?? secretOf(data, names.api_key));
  const another = chosen !== before && secret.source === "file" && isChanged(names.api_key);
  // What is not named is taken as it is stored.
  const asked = () => ({
    base_url: isChanged(names.base_url) ? String(valueOf(names.base_url)).trim() : undefined,
    api_key: typedKey(names.api_key),
  });
  const list = async () => {
    try {
      const base_url = String(valueOf(names.base_url)).trim() || undefined;
      const found = await call("POST", "/api/settings/models", { provider: chosen, ...asked(), base_url });
      const good = found.outcome === "accepted";
      const said = good ? tr("listed", { count: found.models.length }) : [found.message, found.fix].join(" ");
      setListed({ models: found.models, said });
    } catch (error) {
      setListed({ models: [], said: reasonOf(error) });
    }
  };
  /** @param {string} value */
  const choose = (value) => {
    setTyped(value === "*");
    setListed({ models: [], said: "" });
    if (value !== "*") edit(names.model, value && `${value}:`);
    // Address and key are those of the provider before.
    const back = value === before;
    if (!isFixed(whereOf(names.base_url))) edit(names.base_url, back ? (savedValue(data, names.base_url) ?? "") : "");
    editSecret(names.api_key, secret.source === "file" && !back ? REMOVED : "");
  };
  const write = (/** @type {string} */ text) => edit(names.model, chosen === "*" ? text : `${chosen}:${text}`);
  return html`
    <${ProviderRow} id=${names.model} data=${data} chosen=${chosen} where=${where} first=${!name} onChange=${choose} />
    ${chosen &&
    html`
      <${NameRow}
        name=${names.model}
        value=${chosen === "*" ? String(valueOf(names.model)) : model}
        anything=${chosen === "*"}
        fixed=${isFixed(where)}
        options=${listed.models}
        said=${listed.said}
        onInput=${write}
        onList=${vendor?.lists_models ? list : undefined}
      />
      <${TextRow}
        name=${names.base_url}
        label=${tr("address")}
        about=${tr("addressAbout")}
        where=${name ? undefined : whereOf("model_base_url")}
        placeholder=${vendor?.base_url ?? ""}
      />
      <${SecretRow}
        name=${names.api_key}
        label=${tr("key")}
        secret=${secret}
        about=${vendor?.local ? tr("keyLocal") : another ? tr("keyOther") : ""}
        wanted=${another}
      >
        <${TryButton}
          after=${Object.values(names).some((one) => saved.names.includes(one)) ? saved.count : 0}
          what=${name || tr("model")}
          ask=${() => ({ kind: "model", name, model: valueOf(names.model), ...asked() })}
          onAccepted=${vendor?.lists_models ? list : undefined}
        />
      <//>
      <${TextRow}
        name=${names.context}
        label=${tr("context")}
        about=${tr("contextAbout")}
        where=${name ? undefined : whereOf("model_context")}
        numeric
      />
    `}
  `;
}

/**
 * @param {{id: string, data: SettingsData, chosen: string, where?: Where, first: boolean, onChange: (value: string) => void}} props
 */
function ProviderRow({ id, data, chosen, where, first, onChange }) {
  const name = `${id} provider`;
  return html`
    <${Row} name=${name} label=${tr("provider")} where=${where}>
      <select
        id=${idOf(name)}
        value=${chosen}
        disabled=${isFixed(where)}
        aria-describedby=${isFixed(where) ? `${idOf(name)}-about` : undefined}
        onChange=${(/** @type {Typed} */ { currentTarget }) => onChange(currentTarget.value)}
      >
        <option value="">${first ? tr("noModel") : tr("chooseProvider")}</option>
        ${data.providers.map((one) => html`<option key=${one.name} value=${one.name}>${one.label}</option>`)}
        <option value="*">${tr("otherProvider")}</option>
      </select>
    <//>
  `;
}

/**
 * @param {{name: string, value: string, anything: boolean, fixed: boolean, options: string[], said: string,
 *   onInput: (text: string) => void, onList?: () => Promise<void>}} props
 */
function NameRow({ name, value, anything, fixed, options, said, onInput, onList }) {
  const id = idOf(name);
  const wrong = getDesk().errors[name];
  const about = anything ? tr("modelTyped") : "";
  return html`
    <${Row} name=${name} label=${tr("modelName")} about=${about}>
      <input
        id=${id}
        value=${value}
        disabled=${fixed}
        autocomplete="off"
        spellcheck=${false}
        list=${options.length ? `${id}-list` : undefined}
        aria-invalid=${wrong ? "true" : undefined}
        aria-describedby=${[wrong && `${id}-wrong`, about && `${id}-about`].filter(Boolean).join(" ") || undefined}
        onInput=${(/** @type {Typed} */ { currentTarget }) => onInput(currentTarget.value)}
      />
      <datalist id=${`${id}-list`}>${options.map((one) => html`<option key=${one} value=${one}></option>`)}</datalist>
      ${onList && !fixed && html`<button type="button" onClick=${() => void onList()}>${tr("list")}</button>`}
      <div class="tried" role="status">${said && html`<p>${said}</p>`}</div>
    <//>
  `;
}

/** @param {{data: SettingsData, name: string, isNew: boolean}} props */
function OtherModel({ data, name, isNew }) {
  const whole = `models.${name}`;
  const removed = getDesk().drafts[whole] === REMOVED;
  const remove = () => {
    const { drafts, added } = getDesk();
    const rest = Object.fromEntries(Object.entries(drafts).filter(([one]) => !one.startsWith(`${whole}.`)));
    if (isNew) put({ drafts: rest, added: added.filter((one) => one !== name) });
    else put({ drafts: { ...rest, [whole]: REMOVED } });
    if (valueOf("second_model") === name) edit("second_model", ""); // nobody stands in any more
  };
  const model = data.models.find((one) => one.name === name)?.model ?? "";
  if (removed) {
    return html`
      <div class="card changed">
        <p class="card-line">
          <b>${name}</b><span class="state">${tr("modelGoes")}</span>
          <button type="button" onClick=${() => edit(whole, true)}>${tr("undo")}</button>
        </p>
      </div>
    `;
  }
  return html`
    <details class="card" open=${isNew}>
      <summary>
        <b>${name}</b><span class="state">${model}</span>
        ${isChanged(`${whole}.model`) && html`<span class="mark">${tr("unsaved")}</span>`}
      </summary>
      <${ModelFields} data=${data} name=${name} />
      <p><button type="button" class="danger" onClick=${remove}>${tr("removeModel", { name })}</button></p>
    </details>
  `;
}

/** @param {{names: string[]}} props */
function NewModel({ names }) {
  /** @type {{current: HTMLInputElement | null}} */
  const input = useRef(null);
  const [wrong, setWrong] = useState("");
  const add = () => {
    const name = input.current?.value.trim() ?? "";
    const problem = !NAME.test(name) ? tr("modelNameForm") : names.includes(name) ? tr("modelNameTaken") : "";
    setWrong(problem);
    if (problem || !input.current) {
      input.current?.focus();
      return;
    }
    input.current.value = "";
    put({ added: [...getDesk().added, name] });
  };
  /** @param {KeyboardEvent} event */
  const enter = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // it adds, and does not save
    add();
  };
  return html`
    <div class="row">
      <label class="name" for="new-model">${tr("newModel")}</label>
      <div class="control">
        <input
          ref=${input}
          id="new-model"
          autocomplete="off"
          spellcheck=${false}
          placeholder=${tr("newModelExample")}
          aria-invalid=${wrong ? "true" : undefined}
          aria-describedby=${wrong ? "new-model-wrong" : undefined}
          onKeyDown=${enter}
        />
        <button type="button" onClick=${add}>${tr("add")}</button>
      </div>
      ${wrong && html`<p class="wrong" id="new-model-wrong">${wrong}</p>`}
    </div>
  `;
}

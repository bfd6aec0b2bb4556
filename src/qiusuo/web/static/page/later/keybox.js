/** A key is pasted: whose it is, whether it is accepted, and it is used. */
import { call } from "../api.js";
import { messageOf } from "../failures.js";
import { html } from "../html.js";
import { useState } from "../vendor.js";
import { tr } from "./tr.js";

/** @import { SettingsData } from "../settings/types.js" */
/** @typedef {{kind: "model" | "engine", name: string, label: string}} Owner */

/** Beginnings that belong to one provider alone. @type {[RegExp, "model" | "engine", string][]} */
const BEGINNINGS = [
  [/^sk-ant-/, "model", "anthropic"],
  [/^sk-or-/, "model", "openrouter"],
  [/^sk-proj-/, "model", "openai"],
  [/^AIza/, "model", "google"],
  [/^gsk_/, "model", "groq"],
  [/^xai-/, "model", "xai"],
  [/^tvly-/, "engine", "tavily"],
  [/^BSA/, "engine", "brave"],
];

/** Models that do other things than to answer; one of them is no good first choice. */
const NO_CHAT = /embed|whisper|tts|image|dall-e|audio|moderation|realtime|rerank|transcribe|babbage|davinci|instruct/i;

/** @param {SettingsData} data @returns {Owner[]} who has keys */
function ownersOf(data) {
  const models = data.providers.filter((one) => !one.local);
  const engines = data.engines.filter((one) => one.key);
  return [
    ...models.map(({ name, label }) => ({ kind: /** @type {const} */ ("model"), name, label })),
    ...engines.map(({ name, label }) => ({ kind: /** @type {const} */ ("engine"), name, label })),
  ];
}

/** @param {string} key @param {Owner[]} owners @returns {Owner | undefined} whose it is, where that is sure */
function guessed(key, owners) {
  const found = BEGINNINGS.find(([beginning]) => beginning.test(key));
  // Providers may be listed under a longer name (google_genai).
  return found && owners.find((one) => one.kind === found[1] && one.name.split("_")[0] === found[2]);
}

/**
 * @param {{data: SettingsData, wantsModel: boolean,
 *   onUse: (set: Record<string, unknown>, what: string, unset?: string[]) => Promise<void>}} props
 */
export function KeyBox({ data, wantsModel, onUse }) {
  const [key, setKey] = useState("");
  const [chosen, setChosen] = useState("");
  const [models, setModels] = useState(/** @type {string[] | null} */ (null));
  const [model, setModel] = useState("");
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState("");
  const owners = ownersOf(data);
  const sure = guessed(key, owners);
  const owner = sure ?? owners.find((one) => `${one.kind} ${one.name}` === chosen);
  /** @param {string} text */
  const type = (text) => {
    setKey(text.trim());
    setModels(null);
    setWrong("");
  };
  /** @param {SubmitEvent} event */
  const go = async (event) => {
    event.preventDefault();
    if (!owner || !key || busy) return;
    setBusy(true);
    setWrong("");
    try {
      if (owner.kind === "engine") await useEngine(owner);
      else if (models === null) await listModels(owner);
      else await useModel(owner);
    } catch (error) {
      setWrong(messageOf(error));
    }
    setBusy(false);
  };
  /** @param {object} asked @returns {Promise<boolean>} */
  const accepted = async (asked) => {
    const tried = await call("POST", "/api/settings/test", { ...asked, api_key: key });
    if (tried.outcome === "accepted") return true;
    setWrong([tried.message, tried.fix].filter(Boolean).join(" "));
    return false;
  };
  /** @param {Owner} engine */
  const useEngine = async ({ name, label }) => {
    if (!(await accepted({ kind: "engine", name }))) return;
    const order = data.order.value;
    const placed = order && !order.includes(name) ? { provider_priority: [...order, name] } : {};
    await onUse({ [`engines.${name}.api_key`]: key, ...placed }, label);
    setKey("");
  };
  /** @param {Owner} provider */
  const listModels = async ({ name }) => {
    const lists = data.providers.find((one) => one.name === name)?.lists_models;
    const found = lists && (await call("POST", "/api/settings/models", { provider: name, api_key: key }));
    if (found && found.outcome !== "accepted") {
      setWrong([found.message, found.fix].filter(Boolean).join(" "));
      return;
    }
    const names = /** @type {string[]} */ (found ? found.models : []);
    setModels(names);
    setModel(names.find((one) => !NO_CHAT.test(one)) ?? names[0] ?? "");
  };
  /** @param {Owner} provider */
  const useModel = async ({ name }) => {
    const whole = `${name}:${model.trim()}`;
    // An address was that of the model before.
    const moves = data.fields.model_base_url?.source === "file";
    const unset = moves ? ["model_base_url"] : [];
    const asked = { kind: "model", name: "", model: whole, base_url: moves ? "" : undefined };
    if (!model.trim() || !(await accepted(asked))) return;
    await onUse({ model: whole, model_api_key: key }, model.trim(), unset);
    setKey("");
    setModels(null);
  };
  return html`
    <form class="key-box" onSubmit=${go}>
      <label for="start-key">${wantsModel ? tr("pasteKey") : tr("pasteEngineKey")}</label>
      <input
        id="start-key"
        type="password"
        autocomplete="off"
        spellcheck=${false}
        value=${key}
        aria-invalid=${wrong ? "true" : undefined}
        aria-describedby=${wrong ? "start-wrong" : undefined}
        onInput=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => type(event.currentTarget.value)}
      />
      ${key && !sure && html`<${OwnerPicker} owners=${owners} chosen=${chosen} onChange=${setChosen} />`}
      ${models !== null && html`<${ModelPicker} models=${models} model=${model} onChange=${setModel} />`}
      <button type="submit" class=${key ? "primary" : ""} disabled=${!owner || !key || busy}>
        ${busy ? tr("trying") : models !== null ? tr("use", { what: model }) : tr("testAndUse")}
      </button>
      ${sure && html`<p role="status">${tr("recognised", { owner: sure.label })}</p>`}
      ${models !== null && html`<p role="status">${tr("keyAccepted")}</p>`}
      ${wrong && html`<p class="wrong" id="start-wrong" role="alert">${wrong}</p>`}
    </form>
  `;
}

/** @param {{owners: Owner[], chosen: string, onChange: (value: string) => void}} props */
function OwnerPicker({ owners, chosen, onChange }) {
  /** @param {"model" | "engine"} kind */
  const options = (kind) =>
    owners
      .filter((one) => one.kind === kind)
      .map((one) => html`<option key=${one.name} value=${`${kind} ${one.name}`}>${one.label}</option>`);
  return html`
    <select
      aria-label=${tr("whoseKey")}
      value=${chosen}
      onChange=${(/** @type {{currentTarget: HTMLSelectElement}} */ event) => onChange(event.currentTarget.value)}
    >
      <option value="">${tr("whoseKey")}</option>
      <optgroup label=${tr("ofModels")}>${options("model")}</optgroup>
      <optgroup label=${tr("ofEngines")}>${options("engine")}</optgroup>
    </select>
  `;
}

/** Chosen where the provider tells what it has, else typed. @param {{models: string[], model: string, onChange: (value: string) => void}} props */
function ModelPicker({ models, model, onChange }) {
  /** @param {{currentTarget: HTMLInputElement | HTMLSelectElement}} event */
  const take = (event) => onChange(event.currentTarget.value);
  if (!models.length) return html`<input aria-label=${tr("whichModel")} placeholder=${tr("whichModel")} value=${model} onInput=${take} />`;
  return html`
    <select aria-label=${tr("whichModel")} value=${model} onChange=${take}>
      ${models.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
    </select>
  `;
}

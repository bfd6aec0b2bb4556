/** The choice of the model, where there are several: for the conversation, for one message, for another go. */
import { html } from "../html.js";
import { listed, t } from "../i18n.js";
import { Icon } from "../parts/icons.js";
import { modelLabel } from "../parts/settings.js";
import { changeSettings } from "../sessions.js";
import { useStore } from "../store.js";
import { send } from "../turns.js";
import { loadStyle } from "./style.js";
import { tr } from "./tr.js";

/** @import { ModelChoice, Turn } from "../types.js" */

const HERE = "here ";
const ONCE = "once ";
void loadStyle("models.css");

/** @param {ModelChoice} model @returns {string} with its name, where it has one */
function called(model) {
  const shown = listed(model.name, modelLabel(model));
  return model.kind === "unusable" ? `${shown} (${tr("unusable")})` : shown;
}

/** @param {ModelChoice[]} models @param {string | null | undefined} name @returns {string} one that is there */
function known(models, name) {
  return models.some((model) => model.name === name) ? (name ?? "") : "";
}

/** @param {string} name choose the model of the conversation @param {ModelChoice[]} models */
export function chooseModel(name, models) {
  const chosen = models.find((model) => model.name === name);
  return changeSettings({ model: name || null }, tr("saidModel", { model: chosen ? called(chosen) : name }));
}

/** @param {{once: string | null, onOnce: (name: string | null) => void}} props `once`: the model of this message alone */
export function ModelPicker({ once, onOnce }) {
  const models = useStore((state) => state.config?.models ?? []);
  const chosen = useStore((state) => state.settings.model);
  /** @param {string} kind */
  const options = (kind) =>
    models.map(
      (model) => html`
        <option key=${model.name} value=${kind + model.name} disabled=${model.kind === "unusable"}>
          ${kind === ONCE ? tr("once", { model: called(model) }) : called(model)}
        </option>
      `,
    );
  /** @param {{currentTarget: HTMLSelectElement}} event */
  const change = ({ currentTarget: { value } }) => {
    const name = value.slice(ONCE.length);
    if (value.startsWith(ONCE)) return onOnce(name);
    onOnce(null);
    if (name !== known(models, chosen)) void chooseModel(name, models);
  };
  return html`
    <p class="model-picker">
      <select aria-label=${t("model")} value=${once === null ? HERE + known(models, chosen) : ONCE + known(models, once)} onChange=${change}>
        <optgroup label=${tr("forConversation")}>${options(HERE)}</optgroup>
        <optgroup label=${tr("forMessage")}>${options(ONCE)}</optgroup>
      </select>
    </p>
  `;
}

/** Another go at a question, with a model of the reader's choice. @param {{turn: Turn}} props */
export function AgainWith({ turn }) {
  const models = useStore((state) => state.config?.models ?? []);
  /** @param {string} model */
  const again = (model) => void send(turn.question, turn.id, undefined, { research: turn.mode === "research", model });
  return html`
    <details class="again">
      <summary class="quiet"><${Icon} name="retry" />${tr("again")}</summary>
      <ul>
        ${models
          .filter((model) => model.kind !== "unusable")
          .map((model) => html`<li key=${model.name}><button type="button" onClick=${() => again(model.name)}>${called(model)}</button></li>`)}
      </ul>
    </details>
  `;
}

/** What the page calls a setting, where its name of the file would puzzle. */
import { tr } from "./tr.js";

/** @import { SettingsData } from "./types.js" */

const LABELS = /** @type {const} */ ({
  model: "modelName",
  base_url: "address",
  model_base_url: "address",
  searxng_url: "address",
  api_key: "key",
  model_api_key: "key",
  context: "context",
  model_context: "context",
  second_model: "secondModel",
  provider: "provider",
  provider_priority: "orderName",
  monthly_quota: "quota",
  requests_per_second: "pace",
  search_default: "searchDefault",
  depth: "depth",
  retention_days: "retention",
  log_queries: "logQueries",
});

/** @param {string} name @returns {string[]} group, name and setting: names of models may hold dots */
export function parted(name) {
  const found = /^(models|engines)\.(.+)\.(model|base_url|api_key|context|monthly_quota|requests_per_second)$/.exec(name);
  if (found) return found.slice(1);
  return name.startsWith("models.") ? ["models", name.slice("models.".length), ""] : ["", name, ""];
}

/** @param {string} name @param {SettingsData | null} data @returns {string} */
export function labelOf(name, data) {
  const [group = "", one = "", leaf = ""] = parted(name);
  const key = LABELS[/** @type {keyof typeof LABELS} */ (group ? leaf : name)];
  const words = key ? tr(key) : leaf;
  if (!group) return words || name;
  const owner = data?.engines.find((engine) => group === "engines" && engine.name === one)?.label ?? one;
  return [owner, words].filter(Boolean).join(" · ");
}

/** @param {Record<string, {message: string}>} fields what is wrong with each @param {SettingsData | null} data @returns {string} */
export function withLabels(fields, data) {
  return Object.entries(fields)
    .map(([name, { message }]) => `${labelOf(name, data)}${tr("colon")}${message}`)
    .join(tr("semicolon"));
}

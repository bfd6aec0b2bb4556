/** Which findings of the doctor are mended by a field of the settings page: whoever reads there needs no shell. */

/** @import { Finding } from "./types.js" */
/** @import { SettingsData } from "./settings/types.js" */

/** @type {Record<string, string>} */
const FIELDS = {
  "searxng.none": "searxng_url",
  "searxng.refused": "searxng_url",
  "searxng.no_defaults": "searxng_url",
  "searxng.address": "searxng_url",
  "searxng.dns": "searxng_url",
  "searxng.wrong_port": "searxng_url",
  "searxng.other_service": "searxng_url",
  "searxng.redirect": "searxng_url",
  "model.room_assumed": "model_context",
  "model.none": "model",
  "model.missing": "model",
  "model.unreachable": "model_base_url",
  "model.failed": "model_base_url",
  "model.auth": "model_api_key",
};
/** Of these the words say more than which variable to set. */
const TOLD_TOO = new Set(["searxng.none", "searxng.refused", "searxng.no_defaults"]);
const SHELL = /^export \w+=/;

/** @param {Finding} finding @param {SettingsData | null} data @returns {string} the setting; blank where the page cannot change it */
export function placeOf({ code }, data) {
  const name = FIELDS[code] ?? "";
  const field = data?.writable ? data.fields[name] : undefined;
  return field && field.source !== "environment" ? name : "";
}

/**
 * @param {Finding} finding
 * @returns {{fix: string, commands: string[], value: string}} what is left to do beside the field, and what to fill in
 */
export function withoutShell({ code, fix, commands }) {
  return {
    fix: TOLD_TOO.has(code) ? fix : "",
    commands: commands.filter((command) => !SHELL.test(command)),
    value: (commands.find((command) => SHELL.test(command)) ?? "").replace(SHELL, "").replace(/^'(.*)'$/, "$1"),
  };
}

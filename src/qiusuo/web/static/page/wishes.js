/** Whether new conversations search, as this browser's reader wishes: as last time, or always. */
import { recall, remember } from "./browser.js";
import { change, getState } from "./store.js";

/** @import { Settings } from "./types.js" */

/** "always", or as the switch was last set here: "on", "off". */
const SEARCH = "qiusuo.search";

/** @returns {boolean} the reader wants every new conversation to search */
export function searchesAlways() {
  return recall("localStorage", SEARCH) === "always";
}

/** @param {boolean} always */
export function searchAlways(always) {
  const { current, settings } = getState();
  remember("localStorage", SEARCH, always ? "always" : settings.search ? "on" : "off");
  if (!current) change({ settings: asWished(settings) });
}

/** @param {Settings} settings @returns {Settings} as a new conversation begins with them in this browser */
export function asWished(settings) {
  const wish = recall("localStorage", SEARCH);
  // Without a model there is nothing else to answer from.
  if (!wish || getState().config?.model.kind === "extractive") return settings;
  return looking({ ...settings, search: wish !== "off" });
}

/** Note how the switch was set. @param {boolean} on */
export function noteSearch(on) {
  if (!searchesAlways()) remember("localStorage", SEARCH, on ? "on" : "off");
}

/** @param {Settings} settings @returns {Settings} with the switch as it must look */
export function looking(settings) {
  return { ...settings, switch: settings.mode === "agent" ? "disabled" : settings.search ? "on" : "off" };
}

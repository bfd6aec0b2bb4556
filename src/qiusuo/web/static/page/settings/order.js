/** The order of engines: by dragging, by the arrow keys, by two buttons. */
import { say } from "../store.js";
import { edit, getDesk, isChanged, valueOf } from "./desk.js";
import { tr } from "./tr.js";

/** @import { SettingsData } from "./types.js" */

export const ORDER = "provider_priority";
/** The model's own search: no engine, but it has a place in the order. */
export const NATIVE = "native";

/** @param {SettingsData} data @returns {string[]} who is asked, first to last; typed, saved, or what the server does by itself */
export function orderOf(data) {
  const chosen = valueOf(ORDER);
  if (Array.isArray(chosen)) return chosen;
  return [NATIVE, ...data.engines.filter((engine) => engine.takes_part).map((engine) => engine.name)];
}

/** @param {SettingsData} data @returns {boolean} nobody has chosen an order */
export function isAutomatic(data) {
  return isChanged(ORDER) ? !Array.isArray(valueOf(ORDER)) : data.order.value === null;
}

/** @param {SettingsData} data @param {string} name @returns {string} */
export function labelOf(data, name) {
  if (name === NATIVE) return tr("nativeSearch");
  return data.engines.find((engine) => engine.name === name)?.label ?? name;
}

/** @param {SettingsData} data @param {string} name @param {boolean} on */
export function turn(data, name, on) {
  const rest = orderOf(data).filter((one) => one !== name);
  edit(ORDER, on ? [...rest, name] : rest);
  say(tr(on ? "turnedOn" : "turnedOff", { engine: labelOf(data, name) }));
}

/** @param {string} name @param {number} to its new place, counted from 0 */
export function move(name, to) {
  const { data } = getDesk();
  if (!data) return;
  const order = orderOf(data);
  const from = order.indexOf(name);
  if (from < 0 || to < 0 || to >= order.length || from === to) return;
  const rest = order.filter((one) => one !== name);
  rest.splice(to, 0, name);
  edit(ORDER, rest);
  say(tr("moved", { engine: labelOf(data, name), place: to + 1, count: order.length }));
}

/** @param {KeyboardEvent} event @param {string} name @param {number} place */
export function moveByKey(event, name, place) {
  const { data } = getDesk();
  const last = data ? orderOf(data).length - 1 : 0;
  const to = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  move(name, to);
}

/**
 * Follow the pointer until it is let go. The row that is dragged changes its place in the document on the way, so the
 * window is listened to.
 *
 * @param {PointerEvent} event
 * @param {string} name
 */
export function drag(event, name) {
  if (event.button !== 0) return;
  const list = /** @type {HTMLElement} */ (event.currentTarget).closest("ol");
  if (!list) return;
  const ending = new AbortController();
  list.classList.add("dragging");
  const follow = (/** @type {PointerEvent} */ at) => {
    const rows = [...list.querySelectorAll(":scope > li")].map((row) => row.getBoundingClientRect());
    const to = rows.findIndex((box) => at.clientY < box.bottom);
    move(name, to < 0 ? rows.length - 1 : to);
  };
  const end = () => {
    ending.abort();
    list.classList.remove("dragging");
  };
  window.addEventListener("pointermove", follow, { signal: ending.signal });
  window.addEventListener("pointerup", end, { signal: ending.signal });
  window.addEventListener("pointercancel", end, { signal: ending.signal });
}

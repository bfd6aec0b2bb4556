/** A question in the address: asked at once where the reader came with it, else put where it can be read and sent. */
import { looking } from "../wishes.js";
import { change, getState } from "../store.js";
import { send } from "../turns.js";
import { sitesIn } from "./focus.js";
import { tr } from "./tr.js";

/** @import { Settings } from "../types.js" */

/** Take the question of the address; it is gone from there, so that neither a reload nor going back asks again. */
export async function takeQuestion() {
  await inSight();
  const given = new URLSearchParams(location.search);
  const question = (given.get("q") ?? "").trim();
  // The server knows who sent the browser here, and has marked the document.
  const own = document.documentElement.dataset.asks === "own";
  history.replaceState(null, "", location.pathname);
  if (!question) return;
  const { config, settings } = getState();
  const tooLong = [...question].length > (config?.limits.maxQuestion ?? 0);
  if (!own || tooLong) {
    write(question);
    change({ note: () => tr(own ? "tooLongToAsk" : "brought") });
    return;
  }
  change({ settings: looking({ ...settings, ...wished(given) }) });
  const research = given.get("mode") === "research" && Boolean(config?.research);
  if (await send(question, undefined, undefined, { research })) return;
  write(question);
  if (!getState().current) change({ settings });
}

/** A page that the browser has only prepared was asked for by nobody yet. @returns {Promise<void>} */
function inSight() {
  const page = /** @type {Document & {prerendering?: boolean}} */ (document);
  if (!page.prerendering) return Promise.resolve();
  return new Promise((resolve) => page.addEventListener("prerenderingchange", () => resolve(), { once: true }));
}

/** @param {URLSearchParams} given @returns {Partial<Settings>} what the address says of the new conversation */
function wished(given) {
  const mode = given.get("mode");
  const { focuses, freshness: times } = getState().config ?? {};
  const focus = focuses?.find((one) => one.name === given.get("focus"))?.name;
  const sites = given.getAll("site").flatMap(sitesIn);
  const freshness = /** @type {Settings["freshness"]} */ (times?.find((one) => one.name && one.name === given.get("fresh"))?.name);
  return {
    ...(focus && { focus }),
    ...(sites.length && { sites }),
    ...(freshness && { freshness }),
    ...((mode === "chat" || mode === "agent") && { mode }),
    // Who asks from the address bar asks a search engine.
    search: given.get("search") !== "off",
  };
}

/** Put a text before what is written there already. @param {string} text */
function write(text) {
  const field = /** @type {HTMLTextAreaElement | null} */ (document.getElementById("question"));
  if (!field || field.value.startsWith(text)) return;
  field.value = field.value.trim() ? `${text}\n\n${field.value}` : text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}

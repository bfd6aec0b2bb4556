/** Slash commands in the composer: what they do, and what may stand for the word that is being written. */
import { isComposing } from "../browser.js";
import { html } from "../html.js";
import { inWords, listed, t } from "../i18n.js";
import { changeSettings, newChat } from "../sessions.js";
import { depthName, modelLabel } from "../parts/settings.js";
import { change, getState, say, toast } from "../store.js";
import { send } from "../turns.js";
import { useEffect, useLayoutEffect, useState } from "../vendor.js";
import { COMMANDS } from "./commands.js";
import { narrow, scopeText, sitesIn } from "./focus.js";
import { chooseModel } from "./models.js";
import { loadStyle } from "./style.js";
import { tr } from "./tr.js";

/** @import { Mode, Settings } from "../types.js" */
/** @typedef {{word: string, about: string, ready: boolean}} Option `ready`: with it the command is whole */

const FIRST = "first";
const LIST = "slash-list";
/** So many fit without scrolling; who writes on sees the others. */
const MOST = 10;
void loadStyle("slash.css");

/** @param {string} text @returns {{name: string, argument: string, spaced: boolean}} */
function parsed(text) {
  const [, name, blank, argument] = /^\/(\S*)(\s*)(.*)$/s.exec(text) ?? ["", "", "", ""];
  return { name: name.toLowerCase(), argument: argument.trim(), spaced: blank !== "" };
}

function models() {
  return getState().config?.models ?? [];
}

/** @param {string} name @returns {string} how the first is called here, unless another has that name */
function shownName(name) {
  return name || (models().some((model) => model.name === FIRST) ? "" : FIRST);
}

/** @param {string} text @returns {Option[]} what may stand for its last word */
export function optionsFor(text) {
  const { name, argument, spaced } = parsed(text);
  if (!spaced) {
    return COMMANDS.filter((command) => command.name.startsWith(name)).map((command) => ({
      word: `/${command.name}${command.argument ? " " : ""}`,
      about: inWords(command.help),
      ready: !command.argument,
    }));
  }
  const command = COMMANDS.find((one) => one.name === name);
  const choices =
    name === "focus"
      ? (getState().config?.focuses ?? []).map((focus) => [focus.name, inWords(focus.label)])
      : name === "model"
        ? models().filter((model) => model.kind !== "unusable").map((model) => [shownName(model.name), modelLabel(model)])
        : (command?.choices ?? []).map((choice) => [choice, ""]);
  return choices
    .filter(([choice]) => choice && choice.toLowerCase().startsWith(argument.toLowerCase()))
    .map(([choice, about]) => ({ word: `/${name} ${choice}`, about, ready: true }));
}

/** @param {string} one @param {string} other @returns {boolean} they begin or end alike */
function alike(one, other) {
  return one.length > 1 && (other.startsWith(one.slice(0, 2)) || other.endsWith(one.slice(-3)));
}

/** @param {string} text what is wrong with a command */
function fault(text) {
  toast(text, "error", "command");
}

/** @param {string} name @returns {string} how a command is called */
function usageOf(name) {
  return tr("usage", { usage: `/${name} ${COMMANDS.find((one) => one.name === name)?.argument}` });
}

/**
 * Say how something stands, and how it is changed: the command alone asks for that.
 *
 * @param {string} what
 * @param {string} state
 * @param {string} name the command
 */
function tell(what, state, name) {
  const told = listed(`${what}${tr("colon")}${state}`, usageOf(name));
  toast(told);
  say(told);
}

/** @type {Record<string, (argument: string, write: (text: string) => void) => unknown>} each false where it cannot be done so */
const ACTIONS = {
  search(argument) {
    const { mode, search } = getState().settings;
    if (mode === "agent" && argument) return fault(listed(t("agentNote"), usageOf("mode"))), true;
    if (mode === "agent") return tell(t("webSearch"), t("agentNote"), "mode");
    if (!argument) return tell(t("webSearch"), t(search ? "on" : "off"), "search");
    if (argument !== "on" && argument !== "off") return false;
    void changeSettings({ search: argument === "on" }, t(argument === "on" ? "saidOn" : "saidOff"));
  },
  mode(argument) {
    if (!argument) return tell(t("mode"), t(getState().settings.mode === "agent" ? "agentMode" : "chatMode"), "mode");
    if (argument !== "chat" && argument !== "agent") return false;
    void changeSettings({ mode: /** @type {Mode} */ (argument) }, t(argument === "agent" ? "saidAgent" : "saidChat"));
  },
  model(argument, write) {
    if (!argument) return write("/model "), "kept";
    const found = models().find((model) => shownName(model.name) === argument && model.kind !== "unusable");
    if (!found) {
      const there = models().filter((model) => model.kind !== "unusable").map((model) => shownName(model.name)).filter(Boolean);
      return fault(tr("unknownModel", { name: argument, there: there.join(", ") })), "kept";
    }
    void chooseModel(found.name, models());
  },
  depth(argument) {
    const { settings, config } = getState();
    if (!argument && config) return tell(t("depth"), depthName(settings.depth ?? null, config), "depth");
    if (!config || !["snippets", "auto", "read"].includes(argument)) return false;
    void changeSettings({ depth: /** @type {Settings["depth"]} */ (argument) }, t("saidDepth", { depth: depthName(/** @type {Settings["depth"]} */ (argument), config) }));
  },
  focus(argument, write) {
    if (!argument) return write("/focus "), "kept";
    if (!getState().config?.focuses?.some((focus) => focus.name === argument)) return false;
    void narrow({ focus: argument });
  },
  site(argument) {
    if (!argument) return tell(t("focus"), scopeText(getState().settings), "site");
    const sites = sitesIn(argument);
    if (!sites.length) return false;
    void narrow({ sites: sites[0] === "all" ? [] : sites });
  },
  fresh(argument) {
    if (!argument) return tell(t("focus"), scopeText(getState().settings), "fresh");
    const known = getState().config?.freshness ?? [];
    if (argument !== "any" && !known.some((one) => one.name && one.name === argument)) return false;
    void narrow({ freshness: argument === "any" ? null : /** @type {Settings["freshness"]} */ (argument) });
  },
  research(argument, write) {
    if (!argument) return false;
    void send(argument, undefined, undefined, { research: true }).then((taken) => taken || write(`/research ${argument}`));
  },
  new: () => newChat(),
  help: (_, write) => (write("/"), "kept"),
};

/**
 * Do what a command says. Where it cannot be done the reader is told, and what was written stays.
 *
 * @param {string} text
 * @param {(text: string) => void} write
 */
export function run(text, write) {
  // What was wrong with the command before it is past.
  change({ toasts: getState().toasts.filter((one) => one.about !== "command") });
  const { name: written, argument } = parsed(text);
  const name = { h: "help", "?": "help", "": "help" }[written] ?? written;
  const command = COMMANDS.find((one) => one.name === name);
  if (!command) {
    const near = COMMANDS.find((one) => alike(name, one.name));
    const advice = near ? tr("didYouMean", { name: `/${near.name}` }) : "";
    fault(`${tr("unknownCommand", { name: `/${written}` })} ${advice} ${tr("sendAsIs")}`);
    return;
  }
  const done = ACTIONS[name](argument, write);
  if (done === false) fault(usageOf(name));
  else if (done !== "kept") write("");
}

/**
 * The list over the composer; the keys are those of its field.
 *
 * @param {{text: string, write: (text: string) => void, field: HTMLTextAreaElement | null}} props
 */
export function Commands({ text, write, field }) {
  const [at, setAt] = useState(-1);
  const [closed, setClosed] = useState("");
  const options = closed === text ? [] : optionsFor(text).slice(0, MOST);
  const active = Math.min(at, options.length - 1);

  /** @param {Option} option @param {boolean} [go] */
  const take = (option, go = true) => {
    setAt(-1);
    if (option.ready && go) run(option.word, write);
    else write(option.word);
    field?.focus();
  };
  useEffect(() => {
    if (options.length) say(tr("found", { count: options.length }));
  }, [options.length]);
  useLayoutEffect(() => {
    if (!field || !options.length) return;
    const state = { "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-controls": LIST };
    for (const [name, value] of Object.entries(state)) field.setAttribute(name, value);
    if (active >= 0) field.setAttribute("aria-activedescendant", `${LIST}-${active}`);
    /** @param {KeyboardEvent} event */
    const keys = (event) => {
      if (isComposing(event) || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) setAt((active + step + options.length + (active < 0 && step < 0 ? 1 : 0)) % options.length);
      else if (event.key === "Escape") setClosed(text);
      else if (event.key === "Enter" && active >= 0) take(options[active]);
      else if (event.key === "Tab" && options[Math.max(active, 0)].word !== text) take(options[Math.max(active, 0)], false);
      else return;
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    field.addEventListener("keydown", keys, true);
    return () => {
      field.removeEventListener("keydown", keys, true);
      for (const name of [...Object.keys(state), "aria-activedescendant"]) field.removeAttribute(name);
    };
  });
  return html`
    <div class="slash">
      ${options.length > 0 &&
      html`<ul role="listbox" id=${LIST} aria-label=${tr("commands")}>
        ${options.map(
          (option, index) => html`
            <li
              key=${option.word}
              id=${`${LIST}-${index}`}
              role="option"
              aria-selected=${index === active ? "true" : "false"}
              onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()}
              onClick=${() => take(option)}
            >
              <b>${option.word.trim()}</b> <span>${option.about}</span>
            </li>
          `,
        )}
      </ul>`}
      <p class="hint">${tr("slashHint")}</p>
    </div>
  `;
}

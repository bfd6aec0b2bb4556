/**
 * Markdown as safe DOM. What models and web pages write passes three gates: markdown-it without HTML, DOMPurify with a
 * short list of elements, and links that lead to http(s) only. Pictures are never loaded, they become links.
 */
import { highlight } from "./highlight.js";
import { t } from "./i18n.js";
import { DOMPurify, MarkdownIt } from "./vendor.js";

const WEB = /^https?:\/\/[^\s]/i;
/** A passage of a file: its card shows it. */
const IN_FILE = /^#file-[\w-]+$/;
const CITATION = /^\[(\d+)\]$/;

const TAGS = [
  "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "span",
  "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
];
const ALLOWED = {
  ALLOWED_TAGS: TAGS,
  ALLOWED_ATTR: ["href", "title", "class", "start"],
  ALLOWED_URI_REGEXP: new RegExp(`${WEB.source}|${IN_FILE.source}`, "i"),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};
const CLASSES = /^(?:hl-[a-z]+|language-[\w+#-]+|left|center|right)$/;

const plain = makeParser(() => "");
const colourful = makeParser(highlight);

/** @param {string} url @returns {boolean} */
export function isWeb(url) {
  if (!WEB.test(url)) return false;
  try {
    return Boolean(new URL(url).hostname);
  } catch {
    return false;
  }
}

/** @param {string} url @returns {string} for reading: 中文 instead of %E4%B8%AD…, as far as nothing can hide in it */
export function readable(url) {
  return url.replace(/(?:%[89a-f][0-9a-f])+/gi, (coded) => {
    try {
      const plain = decodeURIComponent(coded);
      return /^[\p{L}\p{M}\p{N}]+$/u.test(plain) ? plain : coded;
    } catch {
      return coded;
    }
  });
}

/** @param {(code: string, language: string) => string} colour */
function makeParser(colour) {
  const parser = new MarkdownIt({ html: false, linkify: true, breaks: false, highlight: colour });
  parser.validateLink = (url) => isWeb(url) || IN_FILE.test(url);
  // A bare name such as readme.md is no address.
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  const { rules } = parser.renderer;
  const escape = parser.utils.escapeHtml;
  rules.image = (tokens, index) => {
    const url = String(tokens[index].attrGet("src") ?? "");
    const words = tokens[index].content || url;
    return isWeb(url) ? `<a href="${escape(url)}">🖼️ ${escape(words)}</a>` : escape(words);
  };
  for (const cell of ["th_open", "td_open"]) {
    rules[cell] = (tokens, index, options, _env, self) => {
      const token = tokens[index];
      const side = /text-align:(left|center|right)/.exec(String(token.attrGet("style") ?? ""));
      token.attrs = side ? [["class", side[1]]] : [];
      return self.renderToken(tokens, index, options);
    };
  }
  rules.heading_open = (_tokens, _index, _options, env) => `<h${env?.level ?? 3}>`;
  rules.heading_close = (_tokens, _index, _options, env) => `</h${env?.level ?? 3}>\n`;
  return parser;
}

/**
 * @param {string} text
 * @param {{level?: number, growing?: boolean}} [options] `growing`: it will be drawn again soon, without colours for now
 * @returns {DocumentFragment}
 */
export function renderMarkdown(text, { level = 3, growing = false } = {}) {
  const markup = (growing ? plain : colourful).render(text, { level });
  const fragment = /** @type {DocumentFragment} */ (/** @type {unknown} */ (DOMPurify.sanitize(markup, ALLOWED)));
  for (const element of fragment.querySelectorAll("[class]")) keepKnownClasses(element);
  for (const link of fragment.querySelectorAll("a")) finishLink(link);
  for (const block of fragment.querySelectorAll("pre")) finishCode(block);
  for (const table of fragment.querySelectorAll("table")) finishTable(table);
  return fragment;
}

/** The same as text, for what is pasted elsewhere. @param {string} text @returns {string} */
export function markupOf(text) {
  const box = document.createElement("div");
  box.append(renderMarkdown(text));
  for (const head of box.querySelectorAll(".code-head")) head.remove();
  return new XMLSerializer().serializeToString(box);
}

/** @param {Element} element */
function keepKnownClasses(element) {
  const kept = [...element.classList].filter((name) => CLASSES.test(name));
  if (kept.length) element.className = kept.join(" ");
  else element.removeAttribute("class");
}

/** @param {HTMLAnchorElement} link */
function finishLink(link) {
  const cited = CITATION.exec(link.textContent ?? "");
  const address = link.getAttribute("href") ?? "";
  if (!isWeb(address) && !(cited && IN_FILE.test(address))) {
    link.replaceWith(...link.childNodes);
    return;
  }
  if (isWeb(address)) Object.assign(link, { target: "_blank", rel: "noopener noreferrer nofollow" });
  if (!cited) {
    link.removeAttribute("title");
    return;
  }
  link.className = "cite";
  link.dataset.number = cited[1];
  if (link.title) link.classList.add("added");
  link.removeAttribute("title");
  link.setAttribute("aria-label", t("citation", { number: cited[1] }));
  const raised = document.createElement("sup");
  link.replaceWith(raised);
  raised.append(link);
}

/** @param {HTMLElement} block */
function finishCode(block) {
  const box = document.createElement("div");
  box.className = "code";
  const language = /language-([\w+#-]+)/.exec(block.firstElementChild?.className ?? "")?.[1] ?? "";
  const head = document.createElement("div");
  head.className = "code-head";
  const name = document.createElement("span");
  name.textContent = language;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code-copy";
  button.textContent = t("copy");
  head.append(name, button);
  block.tabIndex = 0; // it may have to be scrolled
  block.replaceWith(box);
  box.append(head, block);
}

/** @param {HTMLElement} table */
function finishTable(table) {
  const box = document.createElement("div");
  box.className = "table";
  box.tabIndex = 0;
  table.replaceWith(box);
  box.append(table);
}

/** Colours for code: comments, strings, numbers and keywords, told apart by a few rules that most languages share. */

const STRING = /(?:[rbfutRBFU]{0,2})("""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?)/;
const NUMBER = /\b(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\b/;
const WORD = /[A-Za-z_$][\w$]*/;
const COMMENTS = { hash: /#[^\n]*/, slash: /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/, dash: /--[^\n]*|\/\*[^]*?(?:\*\/|$)/, markup: /<!--[^]*?(?:-->|$)/ };

/** @type {Record<string, keyof typeof COMMENTS>} */
const FAMILIES = {};
for (const [family, names] of Object.entries({
  hash: "python py bash sh shell zsh console yaml yml toml ini ruby rb r perl dockerfile makefile conf env",
  slash: "javascript js jsx typescript ts tsx json jsonc java kotlin c h cpp c++ cs csharp go rust rs swift php scala dart css scss",
  dash: "sql lua haskell",
  markup: "html xml svg vue",
})) {
  for (const name of names.split(" ")) FAMILIES[name] = /** @type {keyof typeof COMMENTS} */ (family);
}

const KEYWORDS = new Set(
  `and as assert async await break case catch class const continue def default del do echo elif else end enum except export
  extends false False finally fn for from func function if impl import in interface is lambda let match mut new nil None
  not null of or package pass private protected pub public raise return select self static struct super switch then this
  throw throws true True try type typeof undefined use using var void while with yield SELECT FROM WHERE INSERT INTO
  VALUES UPDATE SET DELETE CREATE TABLE DROP ALTER JOIN LEFT RIGHT INNER OUTER ON GROUP BY ORDER HAVING LIMIT AS AND OR
  NOT NULL IS IN LIKE DISTINCT UNION CASE WHEN THEN ELSE END pip docker uv npm curl sudo cd export`.split(/\s+/),
);

/** @type {Record<string, string>} */
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** @param {string} text */
const escape = (text) => text.replace(/[&<>"]/g, (character) => ESCAPES[character]);

/** @type {Map<string, RegExp>} */
const rules = new Map();

/** @param {keyof typeof COMMENTS} family @returns {RegExp} */
function ruleOf(family) {
  let rule = rules.get(family);
  if (!rule) {
    const sources = [COMMENTS[family], STRING, NUMBER, WORD].map((part) => part.source.replace(/\((?!\?)/g, "(?:"));
    rule = new RegExp(`(${sources[0]})|(${sources[1]})|(${sources[2]})|(${sources[3]})`, "g");
    rules.set(family, rule);
  }
  return rule;
}

/**
 * @param {string} code
 * @param {string} language
 * @returns {string} HTML; blank for languages that are not known
 */
export function highlight(code, language) {
  const family = FAMILIES[language.toLowerCase()];
  if (!family) return "";
  let markup = "";
  let done = 0;
  for (const found of code.matchAll(ruleOf(family))) {
    const [text, comment, string, number] = found;
    const kind = comment ? "comment" : string ? "string" : number ? "number" : KEYWORDS.has(text) ? "keyword" : "";
    markup += escape(code.slice(done, found.index));
    markup += kind ? `<span class="hl-${kind}">${escape(text)}</span>` : escape(text);
    done = found.index + text.length;
  }
  return markup + escape(code.slice(done));
}

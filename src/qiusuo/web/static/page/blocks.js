/** Cuts Markdown into blocks that can be rendered one by one, so that only the last is drawn anew while it grows. */

/**
 * @typedef {object} Block
 * @property {string} text
 * @property {number} level of the heading it is, or of headings in it: from 3 on, none left out
 */

const FENCE = /^\s*(?:(?:[-*+>]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s|$)/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])\s/;
const INDENTED = /^(?: {2,}|\t)\S/;
// Such a definition holds for the whole text, so the whole text is one block.
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:\s*\S/m;
const TOP_LEVEL = 3;
const DEEPEST = 6;

/**
 * @param {string} text
 * @returns {Block[]}
 */
export function splitBlocks(text) {
  if (DEFINITION.test(text)) return [{ text, level: TOP_LEVEL }];
  const blocks = new Cutter();
  let fence = "";
  for (const line of text.split("\n")) {
    if (fence) {
      blocks.add(line);
      if (closes(line, fence)) fence = "";
      continue;
    }
    const opened = FENCE.exec(line);
    if (opened && !(opened[1][0] === "`" && opened[2].includes("`"))) fence = opened[1];
    if (!line.trim()) blocks.blank();
    else if (HEADING.test(line)) blocks.heading(line);
    else blocks.text(line);
  }
  return blocks.finish();
}

/** @param {string} line @param {string} fence */
function closes(line, fence) {
  const bare = line.trim().replace(/^(?:>\s*)+/, "");
  return bare.length >= fence.length && bare === fence[0].repeat(bare.length);
}

class Cutter {
  constructor() {
    /** @type {Block[]} */
    this.blocks = [];
    /** @type {string[]} */
    this.lines = [];
    this.blanks = 0;
    this.level = TOP_LEVEL - 1;
    /** Levels as they were written, of the headings that are open. @type {number[]} */
    this.open = [];
  }

  /** @param {string} line */
  add(line) {
    for (; this.blanks; this.blanks--) this.lines.push("");
    this.lines.push(line);
  }

  blank() {
    if (this.lines.length) this.blanks++;
  }

  /** @param {string} line */
  text(line) {
    if (this.blanks && !this.goesOn(line)) this.cut();
    this.add(line);
  }

  /** Whether the line belongs to what stands before the blank lines: a list goes on over them. @param {string} line */
  goesOn(line) {
    return LIST_ITEM.test(this.lines[0] ?? "") && (INDENTED.test(line) || LIST_ITEM.test(line));
  }

  /** @param {string} line */
  heading(line) {
    this.cut();
    const written = HEADING.exec(line)?.[1].length ?? 1;
    while (this.open.length && (this.open.at(-1) ?? 0) >= written) this.open.pop();
    this.open.push(written);
    this.level = Math.min(TOP_LEVEL - 1 + this.open.length, DEEPEST);
    this.blocks.push({ text: line, level: this.level });
  }

  cut() {
    if (this.lines.length) {
      this.blocks.push({ text: this.lines.join("\n"), level: Math.max(this.level, TOP_LEVEL) });
    }
    this.lines = [];
    this.blanks = 0;
  }

  finish() {
    this.cut();
    return this.blocks;
  }
}

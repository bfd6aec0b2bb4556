/** Which check belongs to which citation in an answer. */
import { listed, t } from "./i18n.js";
import { readable } from "./markdown.js";
import { getState } from "./store.js";

/** @import { CitationCheck, ClaimCheck, Source, Turn } from "./types.js" */

/** @type {WeakMap<Element, CitationCheck>} */
const found = new WeakMap();
// Characters that may stand between what is claimed and its citation.
const GAP = 10;

/** @param {Element} link @returns {CitationCheck | null} what the check says of a citation */
export function checkOf(link) {
  return found.get(link) ?? null;
}

/**
 * The source of a number: one of the turn, else of an earlier one, since numbers go on through the conversation.
 *
 * @param {Source[]} own
 * @param {number} number
 * @returns {Source | undefined}
 */
export function sourceOf(own, number) {
  const found = own.find((source) => source.number === number);
  return found ?? getState().turns.flatMap((turn) => turn.sources).find((source) => source.number === number);
}

/**
 * Mark the citations of a finished answer by what the check found.
 *
 * @param {HTMLElement} root
 * @param {Turn} turn
 */
export function markCitations(root, turn) {
  const links = [...root.querySelectorAll("a.cite")].filter((link) => link instanceof HTMLElement);
  const checks = matched(links, turn.check?.report?.claims ?? []);
  links.forEach((link, index) => {
    const number = Number(link.dataset.number);
    const check = checks[index];
    link.classList.remove("supported", "weak", "not_found");
    found.delete(link);
    const title = sourceOf(turn.sources, number)?.title ?? "";
    const words = [t("citation", { number }), title];
    if (check) {
      found.set(link, check);
      link.classList.add(check.support);
      words.push(t(check.support));
    }
    if (link.classList.contains("added")) words.push(t("added"));
    link.setAttribute("aria-label", listed(...words));
  });
}

/**
 * Find the check of each citation: that of the claim which stands at it, in the order of the answer. Not every citation
 * has one, and the claims are parts of the Markdown, so their words are compared.
 *
 * @param {HTMLElement[]} links
 * @param {ClaimCheck[]} claims
 * @returns {(CitationCheck | null)[]}
 */
function matched(links, claims) {
  const words = claims.map((claim) => bare(plain(claim.claim)));
  /** @type {Set<CitationCheck>} */
  const taken = new Set();
  let from = 0;
  return links.map((link) => {
    const number = Number(link.dataset.number);
    const [lead, following] = around(link);
    const fits = claims.flatMap((claim, index) => {
      const check = index >= from && stands(words[index], lead, following) && claim.citations.find((one) => one.number === number);
      return check ? [{ check, index }] : [];
    });
    // The same number twice in a row has one check.
    const best = fits.find(({ check }) => !taken.has(check)) ?? fits[0];
    if (!best) return null;
    taken.add(best.check);
    from = best.index;
    return best.check;
  });
}

/** @param {HTMLElement} link @returns {[string, string]} the bare words of its block before and after it */
function around(link) {
  const block = link.closest(".block") ?? link;
  const parts = ["", ""];
  let side = 0;
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const cited = walker.currentNode.parentElement?.closest("a.cite");
    if (cited === link) side = 1;
    else if (!cited) parts[side] += walker.currentNode.nodeValue;
  }
  return [bare(parts[0]), bare(parts[1])];
}

/** @param {string} claim @param {string} lead @param {string} following */
function stands(claim, lead, following) {
  if (!claim) return false;
  const start = (lead + following).lastIndexOf(claim, Math.max(0, lead.length - 1));
  return start >= 0 && lead.length - (start + claim.length) <= GAP;
}

/** @param {string} claim @returns {string} without what Markdown does not show */
function plain(claim) {
  return readable(claim.replace(/^\d+[.)]\s/, "").replace(/\]\([^)\s]*\)/g, "]"));
}

/** @param {string} text @returns {string} its letters and digits */
function bare(text) {
  return text.replace(/[^\p{L}\p{N}]+/gu, "");
}

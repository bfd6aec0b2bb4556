/** Which check belongs to which citation in an answer. */
import { t } from "./i18n.js";

/** @import { CitationCheck, Turn } from "./types.js" */

/**
 * Mark the citations of a finished answer by what the check found.
 *
 * @param {HTMLElement} root
 * @param {Turn} turn
 */
export function markCitations(root, turn) {
  const checks = checksByNumber(turn);
  /** @type {Map<number, number>} */
  const seen = new Map();
  for (const link of root.querySelectorAll("a.cite")) {
    if (!(link instanceof HTMLElement)) continue;
    const number = Number(link.dataset.number);
    const nth = seen.get(number) ?? 0;
    seen.set(number, nth + 1);
    const found = checks.get(number);
    const check = found?.[Math.min(nth, found.length - 1)];
    link.classList.remove("supported", "weak", "not_found");
    link.dataset.nth = String(nth);
    const title = turn.sources.find((source) => source.number === number)?.title ?? "";
    const words = [t("citation", { number }), title];
    if (check) {
      link.classList.add(check.support);
      words.push(t(check.support));
    }
    if (link.classList.contains("added")) words.push(t("added"));
    link.setAttribute("aria-label", words.filter(Boolean).join(" · "));
  }
}

/**
 * @param {Turn} turn
 * @param {number} number
 * @param {number} nth which of the citations with that number
 * @returns {CitationCheck | null}
 */
export function checkOf(turn, number, nth) {
  const found = checksByNumber(turn).get(number);
  return found?.[Math.min(nth, found.length - 1)] ?? null;
}

/** @param {Turn} turn @returns {Map<number, CitationCheck[]>} in the order of the answer */
function checksByNumber(turn) {
  /** @type {Map<number, CitationCheck[]>} */
  const checks = new Map();
  for (const claim of turn.check?.report?.claims ?? []) {
    for (const check of claim.citations) checks.set(check.number, [...(checks.get(check.number) ?? []), check]);
  }
  return checks;
}

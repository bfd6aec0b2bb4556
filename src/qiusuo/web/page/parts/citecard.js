/** The card beside a citation: shown on hover, focus and tap. */
import { checkOf } from "../citations.js";
import { html } from "../html.js";
import { formatDay, t } from "../i18n.js";
import { isWeb } from "../markdown.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor.js";

/** @import { Turn } from "../types.js" */

const LEAVE_MS = 180;
const EDGE = 8;
const CARD = "cite-card";

/**
 * @typedef {object} Shown
 * @property {HTMLElement} link
 * @property {number} number
 * @property {number} nth
 */

/**
 * @param {{root: {current: HTMLElement | null}, turn: Turn}} props
 */
export function CitationCards({ root, turn }) {
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  /** @type {{current: any}} */
  const timer = useRef(0);
  const keep = () => clearTimeout(timer.current);
  const leave = () => {
    keep();
    timer.current = setTimeout(() => setShown(null), LEAVE_MS);
  };
  useEffect(() => {
    const box = root.current;
    if (!box) return;
    /** @param {Event} event @returns {HTMLElement | null} */
    const linkOf = (event) => /** @type {Element} */ (event.target).closest?.("a.cite") ?? null;
    /** @param {Event} event */
    const enter = (event) => {
      const link = linkOf(event);
      if (!link) return;
      keep();
      setShown({ link, number: Number(link.dataset.number), nth: Number(link.dataset.nth ?? 0) });
    };
    /** @param {Event} event */
    const exit = (event) => linkOf(event) && leave();
    /** @param {MouseEvent} event */
    const click = (event) => {
      const link = linkOf(event);
      // A finger cannot hover: the first touch shows the card, which has the link.
      if (!link || /** @type {PointerEvent} */ (event).pointerType !== "touch") return;
      event.preventDefault();
      enter(event);
    };
    /** @param {KeyboardEvent} event */
    const key = (event) => event.key === "Escape" && setShown(null);
    /** @param {Event} event */
    const elsewhere = (event) => {
      const target = /** @type {Element} */ (event.target);
      if (!target.closest?.(`a.cite, #${CARD}`)) setShown(null);
    };
    const listeners = /** @type {const} */ ([
      [box, "mouseover", enter],
      [box, "focusin", enter],
      [box, "mouseout", exit],
      [box, "focusout", exit],
      [box, "click", click],
      [document, "keydown", key],
      [document, "pointerdown", elsewhere],
    ]);
    for (const [on, name, listener] of listeners) on.addEventListener(name, /** @type {EventListener} */ (listener));
    return () => {
      for (const [on, name, listener] of listeners) on.removeEventListener(name, /** @type {EventListener} */ (listener));
      keep();
    };
  }, []);
  useEffect(() => {
    shown?.link.setAttribute("aria-describedby", CARD);
    return () => shown?.link.removeAttribute("aria-describedby");
  }, [shown]);
  if (!shown) return null;
  return html`<${Card} shown=${shown} turn=${turn} onEnter=${keep} onLeave=${leave} />`;
}

/** @param {{shown: Shown, turn: Turn, onEnter: () => void, onLeave: () => void}} props */
function Card({ shown, turn, onEnter, onLeave }) {
  /** @type {{current: HTMLDivElement | null}} */
  const box = useRef(null);
  useLayoutEffect(() => place(box.current, shown.link), [shown]);
  const source = turn.sources.find((one) => one.number === shown.number);
  const check = checkOf(turn, shown.number, shown.nth);
  const added = shown.link.classList.contains("added");
  if (!source) return null;
  const read = source.pageRead || check?.snippetOnly === false;
  const passage = check?.passage || source.snippet;
  return html`
    <div ref=${box} id=${CARD} class="cite-card" role="tooltip" onMouseEnter=${onEnter} onMouseLeave=${onLeave}>
      <p class="card-title"><span class="number">${source.number}</span> ${source.title || source.url}</p>
      <p class="card-from">
        ${[source.domain, source.publishedAt && formatDay(source.publishedAt)].filter(Boolean).join(" · ")}
      </p>
      <p class="verdicts">
        ${check && html`<span class=${`verdict ${check.support}`}>${t(check.support)}</span>`}
        <span class="chip">${read ? t("pageWasRead") : t("snippetOnly")}</span>
      </p>
      ${passage && html`<blockquote>${passage}</blockquote>`}
      ${added && html`<p class="added-note">${t("added")}</p>`}
      ${isWeb(source.url) &&
      html`<a class="open-source" href=${source.url} target="_blank" rel="noopener noreferrer nofollow" tabindex="-1">
        ${t("openSource")} ↗
      </a>`}
    </div>
  `;
}

/** Put the card under the citation, or above where there is no room. @param {HTMLElement | null} card @param {HTMLElement} link */
function place(card, link) {
  if (!card) return;
  const at = link.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = card;
  const left = Math.max(EDGE, Math.min(at.left - 24, innerWidth - width - EDGE));
  const below = at.bottom + 6;
  const top = below + height + EDGE > innerHeight && at.top - height - 6 > EDGE ? at.top - height - 6 : below;
  card.style.left = `${left}px`;
  card.style.top = `${top}px`;
}

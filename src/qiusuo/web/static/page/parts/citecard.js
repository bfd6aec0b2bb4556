/** The card beside a citation: shown on hover, focus and tap. */
import { checkOf, sourceOf } from "../citations.js";
import { html } from "../html.js";
import { formatDay, listed, t } from "../i18n.js";
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
 */

/**
 * @param {{root: {current: HTMLElement | null}, turn: Turn}} props
 */
export function CitationCards({ root, turn }) {
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const open = useRef(false);
  open.current = shown !== null;
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
      setShown({ link, number: Number(link.dataset.number) });
    };
    /** The link that was touched or reached by keyboard: its card stays, wherever a mouse may be. @type {Element | null} */
    let held = null;
    /** @param {Event} event */
    const exit = (event) => {
      const link = linkOf(event);
      if (event.type === "focusout") held = null;
      if (link && link !== held) leave();
    };
    /** @param {Event} event */
    const focused = (event) => {
      const link = linkOf(event);
      if (link?.matches(":focus-visible")) held = link;
      enter(event);
    };
    /** @param {MouseEvent} event */
    const click = (event) => {
      const link = linkOf(event);
      /** It is in a file, and the card is all that there is to see. */
      const here = link?.getAttribute("href")?.startsWith("#");
      // A finger cannot hover: the first touch shows the card, which has the link.
      if (!link || (/** @type {PointerEvent} */ (event).pointerType !== "touch" && !here)) return;
      event.preventDefault();
      held = link;
      enter(event);
    };
    /** @param {KeyboardEvent} event */
    const key = (event) => {
      if (event.key !== "Escape" || !open.current) return;
      event.preventDefault();
      setShown(null);
    };
    /** @param {Event} event */
    const elsewhere = (event) => {
      const target = /** @type {Element} */ (event.target);
      if (!target.closest?.(`a.cite, #${CARD}`)) setShown(null);
    };
    const listeners = /** @type {const} */ ([
      [box, "mouseover", enter],
      [box, "focusin", focused],
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
  // While an answer grows its last block is drawn again and again.
  useEffect(() => {
    if (shown && !shown.link.isConnected) setShown(null);
  });
  if (!shown) return null;
  return html`<${Card} shown=${shown} turn=${turn} onEnter=${keep} onLeave=${leave} />`;
}

/** @param {{shown: Shown, turn: Turn, onEnter: () => void, onLeave: () => void}} props */
function Card({ shown, turn, onEnter, onLeave }) {
  /** @type {{current: HTMLDivElement | null}} */
  const box = useRef(null);
  useLayoutEffect(() => {
    const follow = () => place(box.current, shown.link);
    follow();
    document.addEventListener("scroll", follow, { capture: true, passive: true });
    window.addEventListener("resize", follow);
    return () => {
      document.removeEventListener("scroll", follow, { capture: true });
      window.removeEventListener("resize", follow);
    };
  }, [shown]);
  const source = sourceOf(turn.sources, shown.number);
  const check = checkOf(shown.link);
  const added = shown.link.classList.contains("added");
  if (!source) return null;
  const read = source.pageRead || check?.snippetOnly === false;
  const passage = check?.passage || source.snippet;
  return html`
    <div ref=${box} id=${CARD} class="cite-card" role="tooltip" onMouseEnter=${onEnter} onMouseLeave=${onLeave}>
      <p class="card-title"><span class="number">${source.number}</span> ${source.title || source.url}</p>
      <p class="card-from">${listed(source.domain, source.publishedAt && formatDay(source.publishedAt))}</p>
      <p class="verdicts">
        ${check && html`<span class=${`verdict ${check.support}`}>${t(check.support)}</span>`}
        ${!source.card && !source.url.startsWith("#") && html`<span class="chip">${read ? t("pageWasRead") : t("snippetOnly")}</span>`}
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
  const above = at.top - height - 6;
  const fits = below + height + EDGE <= innerHeight || above <= EDGE;
  const top = fits ? Math.min(below, innerHeight - height - EDGE) : above;
  card.style.left = `${left}px`;
  card.style.top = `${top}px`;
  // Scrolled away with its citation.
  const box = link.closest(".scroller")?.getBoundingClientRect();
  card.hidden = box !== undefined && (at.bottom < box.top || at.top > box.bottom);
}

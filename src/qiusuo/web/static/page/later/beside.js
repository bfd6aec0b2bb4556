/** A source beside the text: at the right where there is room, else as a sheet from below. */
import { html } from "../html.js";
import { formatDay, getLanguage, inWords, listed, t } from "../i18n.js";
import { isWeb, readable } from "../markdown.js";
import { IconButton } from "../parts/icons.js";
import { Tile, siteOf, titleOf } from "../parts/sources.js";
import { change, useStore } from "../store.js";
import { useEffect, useLayoutEffect, useRef, useState } from "../vendor.js";
import { Compare } from "./compare.js";
import { loadStyle } from "./style.js";
import { tr } from "./tr.js";

/** @import { Card, Law, Source, Support, Turn } from "../types.js" */

const WIDE = matchMedia("(min-width: 1100px)");
/** So far a finger draws the sheet down to close it. */
const SWIPE = 70;
// It opens as it looks.
await loadStyle("beside.css");

/** @param {{turn: string, number: number}} props */
export function Beside({ turn: id, number }) {
  const turn = useStore((state) => state.turns.find((one) => one.id === id));
  const source = turn?.sources.find((one) => one.number === number);
  useEffect(() => {
    // Another conversation, or an answer that another has taken the place of.
    if (!source) change({ beside: null });
  }, [source]);
  return turn && source ? html`<${Panel} turn=${turn} source=${source} />` : null;
}

/** @param {{turn: Turn, source: Source}} props */
function Panel({ turn, source }) {
  const [wide, setWide] = useState(WIDE.matches);
  /** @type {{current: HTMLDialogElement | null}} */
  const box = useRef(null);
  /** @type {{current: HTMLElement | null}} */
  const title = useRef(null);
  const close = () => {
    box.current?.close();
    const opener = `[data-turn="${CSS.escape(turn.id)}"] .card[data-number="${source.number}"]`;
    /** @type {HTMLElement | null} */ (document.querySelector(opener))?.focus({ preventScroll: true });
    change({ beside: null });
  };
  useEffect(() => {
    const look = () => setWide(WIDE.matches);
    WIDE.addEventListener("change", look);
    return () => WIDE.removeEventListener("change", look);
  }, []);
  useLayoutEffect(() => {
    box.current?.close();
    box.current?.[wide ? "show" : "showModal"]();
  }, [wide]);
  useLayoutEffect(() => title.current?.focus(), [wide, turn.id, source.number]);
  // Before the next key: Escape must give the focus to the card of the source that is shown, not of the one before it.
  useLayoutEffect(() => {
    /** @param {KeyboardEvent} event */
    const keys = (event) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      close();
    };
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  });
  const drawn = useDrawn(box, close);
  const card = source.card ?? (source.law ? cardOf(source.law) : null);
  return html`
    <dialog
      ref=${box}
      id="beside"
      class=${wide ? "beside" : "beside sheet"}
      aria-labelledby="beside-title"
      onCancel=${(/** @type {Event} */ event) => (event.preventDefault(), close())}
      onClick=${(/** @type {Event} */ event) => event.target === box.current && close()}
    >
      <div class="beside-in">
        <header ...${wide ? {} : drawn}>
          <span class="number">${source.number}</span><${Tile} source=${source} /><span class="beside-site">${siteOf(source)}</span>
          <${IconButton} icon="close" label=${tr("closeSource")} onClick=${close} />
        </header>
        <div class="beside-body" tabindex="0">
          <h2 id="beside-title" ref=${title} tabindex="-1">${card?.title || titleOf(source)}</h2>
          <${About} turn=${turn} source=${source} card=${card} />
        </div>
      </div>
    </dialog>
  `;
}

/**
 * @param {{current: HTMLElement | null}} box
 * @param {() => void} close
 * @returns {Record<string, (event: PointerEvent) => void>} how a sheet follows the finger that draws it down
 */
function useDrawn(box, close) {
  const from = useRef(/** @type {number | null} */ (null));
  /** @param {number} far */
  const move = (far) => {
    if (box.current) box.current.style.transform = far > 0 ? `translateY(${far}px)` : "";
  };
  return {
    onPointerDown: (event) => {
      if (/** @type {Element} */ (event.target).closest("button")) return;
      from.current = event.clientY;
      /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
    },
    onPointerMove: (event) => from.current !== null && move(event.clientY - from.current),
    onPointerUp: (event) => {
      const far = from.current === null ? 0 : event.clientY - from.current;
      from.current = null;
      move(0);
      if (far > SWIPE) close();
    },
    onPointerCancel: () => {
      from.current = null;
      move(0);
    },
  };
}

/** @param {{turn: Turn, source: Source, card: Card | null}} props */
function About({ turn, source, card }) {
  const several = turn.rounds.filter((round) => round.kind !== "fetch_page").length > 1;
  const query = several && turn.rounds.find((round) => round.number === source.round)?.query;
  return html`
    <p class="beside-marks">
      ${card?.badge && html`<span class=${`badge ${card.tone}`}>${card.badge}</span>`}
      ${turn.cited.includes(source.number) && html`<span class="chip used">${t("used")}</span>`}
      ${!card && html`<span class="chip">${source.pageRead ? t("pageWasRead") : t("snippetOnly")}</span>`}
      ${source.weak && html`<span class="chip weak">${tr("weakMatch")}</span>`}
      ${card?.mark && html`<span class="chip weak">${card.mark}</span>`}
    </p>
    <p class="beside-from">${listed(source.domain, ...(card ? factsOf(card) : []), source.publishedAt && formatDay(source.publishedAt))}</p>
    ${query && html`<p class="beside-from">${listed(t("round", { number: source.round }), query)}</p>`}
    ${isWeb(source.url)
      ? html`<p class="beside-from">
          <span class="beside-url">${readable(source.url)}</span>
          <a class="open-source" href=${source.url} target="_blank" rel="noopener noreferrer nofollow">${t("openSource")} ↗</a>
        </p>`
      : !source.url.startsWith("#") && html`<p class="beside-from"><span class="chip weak">${t("unsafe")}</span> <span class="beside-url">${source.url}</span></p>`}
    ${card ? html`<${Whole} source=${source} card=${card} />` : html`<${Passages} turn=${turn} source=${source} />`}
  `;
}

/** What the answer was given of it, and what its sentences were compared with. @param {{turn: Turn, source: Source}} props */
function Passages({ turn, source }) {
  const given = source.passages ?? [];
  const claims = (turn.check?.report?.claims ?? []).flatMap(({ claim, citations }) =>
    citations.filter(({ number }) => number === source.number).map(({ support, passage }) => ({ claim, support, passage })),
  );
  const shown = given.length ? given : [...new Set(claims.map(({ passage }) => passage).filter(Boolean))];
  const only = shown.length === 1 && source.snippet.includes(shown[0]);
  return html`
    ${shown.length > 0 && !only && html`<h3>${tr("passages")}</h3>`}
    ${!only && shown.map((passage) => html`<blockquote key=${passage}>${passage}</blockquote>`)}
    ${source.snippet &&
    !given.length &&
    html`<h3>${tr("fromSearch")}</h3>
      <blockquote class=${only ? "marked" : ""}>${source.snippet}</blockquote>`}
    ${claims.length > 0 &&
    html`<h3>${tr("saidOfIt")}</h3>
      <ul class="beside-claims">
        ${claims.map(({ claim, support }) => html`<li key=${claim}>${claim.replace(/[*`]/g, "")} <span class=${`verdict ${support}`}>${t(/** @type {Support} */ (support))}</span></li>`)}
      </ul>`}
  `;
}

/** @param {Card} card @returns {string[]} */
function factsOf(card) {
  return card.facts.map(({ value, labels, day }) => {
    const [label, shown] = [inWords(labels), day ? formatDay(value) : value];
    return label.includes("{value}") ? label.replace("{value}", shown) : [label, shown].filter(Boolean).join(" ");
  });
}

/** A source of which more is known: its words as they stand. @param {{source: Source, card: Card}} props */
function Whole({ source, card }) {
  return html`
    <blockquote class="marked">${card.text || source.snippet}</blockquote>
    ${card.notes.map((remark) => html`<p key=${remark} class="card-remark">${remark}</p>`)}
    ${card.compare && html`<${Compare} path=${card.compare} about=${card.title} />`}
  `;
}

/** @type {Record<string, Card["tone"]>} */
const TONES = { 已修改: "pending", 尚未生效: "pending", 已废止: "gone" };

/** @param {Law} law @returns {Card} the same as a card */
function cardOf(law) {
  const day = law.dateBasis === "published" ? tr("lawPublished") : tr("lawEffective");
  const facts = [
    { value: law.chapter, label: "", day: false },
    { value: law.version, label: tr("lawVersion"), day: false },
    { value: law.effectiveDate, label: day, day: true },
  ];
  return {
    title: [law.lawName, law.articleNumber].filter(Boolean).join(" "),
    text: law.content ?? "",
    badge: law.status ?? "",
    tone: TONES[law.status ?? ""] ?? "force",
    facts: facts.flatMap((fact) =>
      fact.value ? [{ value: fact.value, labels: { [getLanguage()]: fact.label }, day: fact.day }] : [],
    ),
    notes: law.notes ?? [],
  };
}

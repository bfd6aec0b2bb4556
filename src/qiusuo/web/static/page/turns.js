/** Turns: asked, followed as they are answered (also after a reload or a lost connection), stopped. */
import { ApiError, call, openStream, readEvents, refusedWith, sessionPath } from "./api.js";
import { announce } from "./browser.js";
import { LIMIT, messageOf } from "./failures.js";
import { fold, newTurn } from "./fold.js";
import { getLanguage, t } from "./i18n.js";
import { ensureSession, focusQuestion, gone, lookAgain, refreshHistory } from "./sessions.js";
import { change, getState, say, toast } from "./store.js";

/** @import { Session, Turn } from "./types.js" */

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 5000;
const POLL_MS = 1000;
const HIDDEN_FRAME_MS = 250;
/** The id of a turn that the server has not named yet, and how those begin that it has never heard of. */
export const PENDING = "pending";
export const UNSENT = "unsent-";

/** What is followed just now. @type {Following | null} */
let following = null;
let begun = 0;

/** @returns {number} how many turns were asked or followed so far: what was fetched before the last one is old */
export function turnsBegun() {
  return begun;
}

/** One turn being followed: its record grows with the events and is shown once per frame. */
class Following {
  /** @param {string} session blank while it is being made @param {Turn} turn */
  constructor(session, turn) {
    begun++;
    import("./later/escape.js").catch(() => {}); // now there is something to stop
    this.session = session;
    /** What stood there when it was asked. */
    this.before = getState().turns;
    this.turn = turn;
    this.last = -1;
    this.ended = false;
    this.quit = new AbortController();
    this.scheduled = false;
  }

  /** @param {import("./api.js").ServerEvent[]} events */
  take(events) {
    for (const { id, data } of events) {
      if (id >= 0 && id <= this.last) continue;
      this.last = Math.max(this.last, id);
      const known = this.turn.id;
      fold(this.turn, data);
      if (this.turn.id !== known) this.named(known);
      if (data.type === "done") this.ended = true;
    }
    this.show();
  }

  /** The server has given the turn its id. @param {string} known */
  named(known) {
    const turns = getState().turns.map((turn) => (turn.id === known ? { ...this.turn } : turn));
    change({ live: this.turn.id, turns });
    void refreshHistory();
    announce(this.session);
  }

  show() {
    if (this.scheduled) return;
    this.scheduled = true;
    const draw = () => {
      this.scheduled = false;
      if (following === this || this.ended) this.draw();
    };
    if (document.hidden) setTimeout(draw, HIDDEN_FRAME_MS);
    else requestAnimationFrame(draw);
  }

  draw() {
    const { turns } = getState();
    const index = turns.findLastIndex((turn) => turn.id === this.turn.id);
    if (index >= 0) change({ turns: turns.toSpliced(index, 1, { ...this.turn }) });
    say(spoken(this.turn));
  }

  get left() {
    return this.quit.signal.aborted;
  }
}

/** @param {Turn} turn @returns {string} how it stands, for screen readers */
function spoken(turn) {
  if (turn.state === "running") {
    const round = turn.rounds.at(-1);
    if (turn.stage === "searching" && round) return `${t("searching")}: ${round.query}`;
    return turn.stage ? t(turn.stage) : t("waiting");
  }
  return t(turn.state === "done" ? "answered" : turn.state === "stopped" ? "stopped" : "failedTurn");
}

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Stop following; the server goes on answering. */
export function detach() {
  following?.quit.abort();
  following = null;
  change({ live: null, lost: false });
}

/** @param {Following} mine */
function unfollow(mine) {
  if (following === mine) detach();
}

/**
 * Ask. With `replaces`, that turn and all after it make room; with `query`, that is searched for.
 *
 * @param {string} text
 * @param {string} [replaces]
 * @param {string} [query]
 * @param {{research?: boolean, goesOn?: boolean, model?: string}} [how] `goesOn`: what it replaces is a research that
 *   broke off; `model`: the name of the one that answers this message
 * @returns {Promise<boolean>} false when the question was not taken
 */
export async function send(text, replaces, query, { research = false, goesOn = false, model } = {}) {
  const { live, settings, turns } = getState();
  if (live) return false;
  const mode = research ? "research" : settings.mode;
  const turn = newTurn(PENDING, text, { mode, search: research || settings.search });
  const cut = replaces ? turns.findIndex((known) => known.id === replaces) : -1;
  const kept = cut < 0 ? turns : turns.slice(0, cut);
  // The server knows nothing of what did not get through.
  const first = turns.slice(kept.length).find((known) => !known.id.startsWith(UNSENT));
  const mine = new Following("", turn);
  following = mine;
  change({ turns: [...kept, turn], live: PENDING });
  focusQuestion(); // the button that was pressed goes with what it replaces
  try {
    const session = await ensureSession();
    if (!session || mine.left) return false;
    mine.session = session.id;
    const response = await openStream("POST", sessionPath(session.id, "/turns"), {
      body: {
        text,
        language: getLanguage(),
        ...(first && { [goesOn ? "goesOn" : "replaces"]: first.id }),
        ...(query && { query }),
        ...(research && { research }),
        ...(model !== undefined && { model }),
      },
      signal: mine.quit.signal,
    });
    void follow(mine, response);
    return true;
  } catch (error) {
    if (mine.left) return true;
    following = null;
    if (refusedWith(error, 409)) {
      change({ turns, live: null });
      toast(t("busy"), "error");
      await reload(mine.session).catch(() => {});
      return false;
    }
    if (refusedWith(error, 404) && mine.session) {
      gone();
      return false;
    }
    if (refusedWith(error, 401)) {
      change({ turns, live: null }); // it waits where it was written: the way to a sign-in leads away from this page
      return false;
    }
    unsent(turn, error, mine.session);
    return true;
  }
}

/** Go on with a research that broke off. @param {Turn} turn */
export function goOn(turn) {
  return send(turn.question, turn.id, undefined, { research: true, goesOn: true });
}

/** Show that a question did not get through. @param {Turn} turn @param {unknown} error @param {string} session */
function unsent(turn, error, session) {
  const refused = error instanceof ApiError && error.status > 0;
  const full = refused && error.kind === LIMIT && (session ? "turns_full" : "conversations_full");
  const notice = {
    code: full || (refused ? "refused" : "lost_turn"),
    level: "error",
    title: "",
    message: refused ? error.message : "",
    fix: error instanceof ApiError ? error.fix : "",
    commands: [],
    doc: "",
    retryAfter: error instanceof ApiError ? error.retryAfter : null,
  };
  const failed = { ...turn, id: `${UNSENT}${Date.now()}`, state: /** @type {const} */ ("failed"), notices: [notice] };
  change({ live: null, turns: getState().turns.map((one) => (one.id === PENDING ? failed : one)) });
  say(t("failedTurn"));
}

/**
 * Follow a turn that runs already: after a reload, or begun in another tab.
 *
 * @param {string} session
 * @param {string} id
 */
export function attach(session, id) {
  detach();
  const known = getState().turns.find((turn) => turn.id === id);
  const turn = newTurn(id, known?.question ?? "", { mode: known?.mode, createdAt: known?.createdAt });
  const mine = new Following(session, turn);
  following = mine;
  // What was kept of it stays on the page until the events have caught up.
  change({ live: id, turns: known ? getState().turns : [...getState().turns, { ...turn }] });
  void follow(mine, null);
}

/**
 * Read events until the turn has ended, over as many connections as it takes.
 *
 * @param {Following} mine
 * @param {Response | null} first
 */
async function follow(mine, first) {
  let response = first;
  let wait = FIRST_WAIT_MS;
  while (!mine.ended && !mine.left) {
    let heard = true;
    try {
      response ??= await reopen(mine);
      if (response) {
        change({ lost: false });
        for await (const events of readEvents(response)) {
          wait = FIRST_WAIT_MS;
          mine.take(events);
          if (mine.ended || mine.left) break;
        }
      } else {
        heard = false;
        if (await look(mine)) break;
      }
    } catch (error) {
      if (refusedWith(error, 401)) return unfollow(mine); // until there is a token
    }
    response = null;
    if (mine.ended || mine.left) break;
    if (heard) change({ lost: true });
    await pause(heard ? wait : POLL_MS);
    if (heard) wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
  if (mine.left) return;
  mine.draw();
  following = null;
  change({ live: null, lost: false });
  void refreshHistory();
  if (mine.turn.rounds.some((round) => round.state === "failed")) lookAgain();
  announce(mine.session);
}

/**
 * @param {Following} mine
 * @returns {Promise<Response | null>} null where the turn cannot be heard: it has ended, the server has not named it,
 *   or another one answers it that cannot be reached
 */
async function reopen(mine) {
  if (mine.turn.id === PENDING) return null;
  const path = sessionPath(mine.session, `/turns/${encodeURIComponent(mine.turn.id)}/events`);
  try {
    return await openStream("GET", path, { after: mine.last, signal: mine.quit.signal });
  } catch (error) {
    if (refusedWith(error, 404) || refusedWith(error, 409)) return null;
    throw error;
  }
}

/**
 * Look at the conversation, and show what is kept there of a turn that cannot be heard.
 *
 * @param {Following} mine
 * @returns {Promise<boolean>} nothing runs there any more, or it was left
 */
async function look(mine) {
  try {
    /** @type {Session} */
    const { turns, ...info } = await call("GET", sessionPath(mine.session));
    const kept = turns.find((turn) => turn.id === mine.turn.id) ?? turns.at(-1);
    if (mine.left) return true;
    change({ lost: false, current: info });
    if (mine.turn.id === PENDING && kept?.question !== mine.turn.question) {
      unsent(mine.turn, new ApiError(0), mine.session);
      mine.quit.abort();
      following = null;
      return true;
    }
    if (kept) showKept(mine, kept, !info.running);
    if (!info.running && mine.turn.state === "running") {
      Object.assign(mine.turn, { state: "failed", stage: null, finish: "interrupted" });
    }
    return !info.running;
  } catch (error) {
    if (mine.left) return true;
    if (refusedWith(error, 404)) gone();
    else if (refusedWith(error, 401)) unfollow(mine);
    else change({ lost: true });
    return mine.left;
  }
}

/**
 * Show what is kept of a turn. As long as it runs its record stays what its events made of it, so that they can go on
 * from there, and what is shown never gets shorter: what is kept is some seconds old.
 *
 * @param {Following} mine
 * @param {Turn} kept
 * @param {boolean} whole
 */
function showKept(mine, kept, whole) {
  const known = mine.turn.id;
  mine.turn.id = kept.id;
  if (whole) Object.assign(mine.turn, kept);
  const turns = getState().turns.map((turn) => {
    if (turn.id !== known) return turn;
    return whole || kept.answer.length >= turn.answer.length ? { ...kept } : { ...turn, id: kept.id };
  });
  change({ turns, live: kept.id });
}

/** @param {string} session */
async function reload(session) {
  if (!session) return;
  /** @type {Session} */
  const { turns, earlier, ...info } = await call("GET", sessionPath(session));
  if (getState().current?.id !== session) return;
  change({ current: info, turns, earlier });
  if (info.running) attach(session, info.running);
}

/** Stop the turn that is being answered. */
export async function stop() {
  const mine = following;
  if (!mine) return;
  if (!mine.session) {
    // Not even sent: it goes back to where it was written.
    detach();
    change({ turns: mine.before });
    return;
  }
  await waitForName(mine);
  if (mine.turn.id === PENDING || mine.left) return;
  try {
    await call("POST", sessionPath(mine.session, `/turns/${encodeURIComponent(mine.turn.id)}/stop`), {});
  } catch (error) {
    if (!refusedWith(error, 404)) toast(messageOf(error), "error");
  }
}

/** @param {Following} mine */
async function waitForName(mine) {
  for (let tries = 0; tries < 50 && mine.turn.id === PENDING && !mine.left; tries++) {
    await pause(100);
  }
}

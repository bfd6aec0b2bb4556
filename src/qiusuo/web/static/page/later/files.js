/** The files of a conversation: sent, followed while they are read, shown above the question, removed. */
import { ApiError, call, headers, request, sessionPath } from "../api.js";
import { html } from "../html.js";
import { IconButton } from "../parts/icons.js";
import { messageOf } from "../failures.js";
import { ensureSession } from "../sessions.js";
import { change, getState, say, useStore } from "../store.js";
import { useEffect } from "../vendor.js";
import { loadStyle } from "./style.js";
import { tr } from "./tr.js";

/** @import { Chip } from "../types.js" */

const LOOK_MS = 1000;

let count = 0;
/** The conversation whose files are shown; null: one that the server does not know yet. @type {string | null} */
let shownFor = getState().current?.id ?? null;
/** What is being sent or read, by its key. @type {Map<number, {done: Promise<boolean>, quit: AbortController}>} */
const underway = new Map();
let looking = false;

void loadStyle("files.css");

/** @returns {Chip[]} */
const chips = () => getState().files?.list ?? [];

/** @param {Chip[]} list */
function keep(list) {
  change({ files: { Chips, list } });
}

/** @param {number} key @param {Partial<Chip>} values */
function update(key, values) {
  keep(chips().map((chip) => (chip.key === key ? { ...chip, ...values } : chip)));
}

/** Show the files of the conversation that is open. */
export function show() {
  const { current } = getState();
  const id = current?.id ?? null;
  if (shownFor === null && id && underway.size) shownFor = id; // it was begun for these files
  if (id === shownFor && (getState().files || !current?.files)) return;
  for (const { quit } of underway.values()) quit.abort();
  shownFor = id;
  keep((current?.files ?? []).map((file) => ({ key: ++count, ...file })));
}

/** Let the reader choose files. */
export function choose() {
  const field = document.createElement("input");
  field.type = "file";
  field.multiple = true;
  field.hidden = true;
  field.onchange = () => {
    add([...(field.files ?? [])]);
    field.remove();
  };
  field.oncancel = () => field.remove();
  document.body.append(field);
  field.click();
}

/** @param {File[]} files */
export function add(files) {
  show();
  if (!getState().files) keep([]);
  const most = getState().config?.files?.maxBytes ?? Infinity;
  for (const file of files) {
    const key = ++count;
    const tooLarge = file.size > most;
    const why = tooLarge ? tr("fileTooLarge", { size: Math.round(most / 2 ** 20) }) : "";
    keep([...chips(), { key, id: "", name: file.name, size: file.size, state: tooLarge ? "failed" : "reading", why }]);
    if (tooLarge) continue;
    const quit = new AbortController();
    underway.set(key, { done: send(key, file, quit.signal).finally(() => underway.delete(key)), quit });
  }
}

/** @param {number} key @param {File} file @param {AbortSignal} signal @returns {Promise<boolean>} it was taken */
async function send(key, file, signal) {
  try {
    const session = await begun();
    if (!session || signal.aborted) return false;
    void look(session);
    const response = await request(sessionPath(session, "/files"), {
      method: "POST",
      headers: headers({ "X-File-Name": encodeURIComponent(file.name), "Content-Type": "application/octet-stream" }),
      body: file,
      signal,
    });
    const taken = await response.json();
    // The same file twice is one.
    keep(chips().filter((chip) => chip.key === key || chip.id !== taken.id));
    update(key, taken);
    say(tr("fileReady", { name: taken.name }));
    return true;
  } catch (error) {
    if (signal.aborted) return true;
    const lost = error instanceof ApiError && error.status === 0;
    // Many a sentence begins with the name.
    const named = error instanceof ApiError && "name" in error.values;
    update(key, { state: "failed", why: lost ? tr("fileLost") : messageOf(error), named });
    return false;
  }
}

/** The first file begins the conversation, the others wait for that. @type {Promise<string | null>} */
let beginning = Promise.resolve(null);

/** @returns {Promise<string | null>} the conversation */
function begun() {
  beginning = beginning.then(async () => (await ensureSession())?.id ?? null, () => null);
  return beginning;
}

/** See how far long files are, as long as some are being read. @param {string} session */
async function look(session) {
  if (looking) return;
  looking = true;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (!underway.size || getState().current?.id !== session) break;
    const { files } = await call("GET", sessionPath(session, "/files")).catch(() => ({ files: [] }));
    for (const { name, page, pages, state } of files) {
      const chip = chips().find((one) => one.name === name && one.state === "reading");
      if (chip && state === "reading" && pages) update(chip.key, { page, pages });
    }
  }
  looking = false;
}

/** @returns {Promise<boolean>} all files are read; false: one could not be, and nobody has seen that yet */
export async function settled() {
  const waiting = [...underway.values()].map(({ done }) => done);
  if (!waiting.length) keep(chips().filter((chip) => chip.state !== "failed"));
  return (await Promise.all(waiting)).every(Boolean);
}

/** @param {Chip} chip */
async function remove(chip) {
  underway.get(chip.key)?.quit.abort();
  keep(chips().filter((one) => one.key !== chip.key));
  document.getElementById("question")?.focus();
  say(tr("fileRemoved", { name: chip.name }));
  const { current } = getState();
  if (!chip.id || !current) return;
  await call("DELETE", sessionPath(current.id, `/files/${encodeURIComponent(chip.id)}`)).catch((error) => {
    if (error instanceof ApiError && error.status === 404) return;
    keep([...chips(), { ...chip, state: "failed", why: messageOf(error) }]);
  });
}

function Chips() {
  const list = useStore((state) => state.files?.list) ?? [];
  const current = useStore((state) => state.current?.id);
  const kept = useStore((state) => state.current?.files);
  useEffect(show, [current, kept]);
  if (!list.length) return null;
  return html`
    <ul class="files" aria-label=${tr("files")}>
      ${list.map((chip) => html`<${FileChip} key=${chip.key} chip=${chip} />`)}
    </ul>
  `;
}

/** @param {{chip: Chip}} props */
function FileChip({ chip }) {
  return html`
    <li class=${`file ${chip.state}`}>
      ${!chip.named && html`<span class="file-name" title=${chip.name}>${chip.name}</span>`}
      <span class="file-about" role=${chip.state === "failed" ? "alert" : undefined}>${about(chip)}</span>
      <${IconButton} icon="close" label=${tr("fileRemove", { name: chip.name })} onClick=${() => void remove(chip)} />
    </li>
  `;
}

/** @param {Chip} chip @returns {string} */
function about(chip) {
  if (chip.state === "failed") return chip.why ?? "";
  if (chip.state === "ready") return chip.pages ? tr("filePages", { size: sizeOf(chip.size), pages: chip.pages }) : sizeOf(chip.size);
  return chip.pages ? tr("fileReadingPage", { page: chip.page ?? 1, pages: chip.pages }) : tr("fileReading", { size: sizeOf(chip.size) });
}

/** @param {number} bytes @returns {string} */
function sizeOf(bytes) {
  return bytes < 2 ** 20 ? `${Math.max(1, Math.round(bytes / 1024))} KB` : `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

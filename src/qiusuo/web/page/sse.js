/** Server-sent events read from a fetch, which unlike EventSource can send a token and a body. */

const SILENCE_MS = 45_000;

/**
 * @typedef {object} ServerEvent
 * @property {number} id
 * @property {any} data
 */

/**
 * Give the events as they come, all those of one network read together.
 *
 * @param {Response} response
 * @returns {AsyncGenerator<ServerEvent[]>} ends with the stream; throws when it breaks or falls silent
 */
export async function* readEvents(response) {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read());
      if (done) return;
      const parts = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = parts.pop() ?? "";
      const events = parts.map(parse).filter((event) => event !== null);
      if (events.length) yield events;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * @template T
 * @param {Promise<T>} reading
 * @returns {Promise<T>}
 */
function withinSilence(reading) {
  /** @type {any} */
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("The stream has fallen silent.")), SILENCE_MS);
  });
  return Promise.race([reading, /** @type {Promise<T>} */ (silence)]).finally(() => clearTimeout(timer));
}

/** @param {string} text @returns {ServerEvent | null} null for comments */
function parse(text) {
  let id = -1;
  let data = "";
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("data:")) data += (data && "\n") + line.slice(line[5] === " " ? 6 : 5);
    else if (line.startsWith("id:")) id = Number(line.slice(3));
  }
  return data ? { id, data: JSON.parse(data) } : null;
}

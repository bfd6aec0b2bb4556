/** Tells other tabs of this page what has changed. */

const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("qiusuo") : null;

/** @param {string | null} session null: the list of conversations */
export function announce(session) {
  channel?.postMessage({ session });
}

/** @param {(session: string | null) => void} listener */
export function onAnnounced(listener) {
  channel?.addEventListener("message", (event) => listener(event.data.session));
}

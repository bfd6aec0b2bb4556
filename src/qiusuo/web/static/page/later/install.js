/** The page can be installed; where the server is away, it says so. */
import { ROOT } from "../browser.js";

export const installed = navigator.serviceWorker?.register(`${ROOT}/offline.js`, { updateViaCache: "none" }).catch(() => {});

/** The page can be installed; where the server is away, it says so. */
export const installed = navigator.serviceWorker?.register("/offline.js", { updateViaCache: "none" }).catch(() => {});

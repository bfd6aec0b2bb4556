/** The page can be installed; where the server is away, it says so. The worker stands beside the page, also below a path. */
export const installed = navigator.serviceWorker?.register("offline.js", { updateViaCache: "none" }).catch(() => {});

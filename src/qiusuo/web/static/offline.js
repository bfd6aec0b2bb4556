// The worker of the page. Its only work: where the server cannot be reached, a page says so. Nothing is kept.
// What stands before this is made by the server: SHELLS, by language, and POLICY.
const PAGES = ["", "settings", "board", "usage"];
// A proxy may show the server below a path; nothing else is asked of this worker.
const BELOW = new URL(self.registration.scope).pathname;

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("fetch", (event) => {
  const { mode, method, url } = event.request;
  const { pathname, search } = new URL(url);
  // An address with a question is left to the browser: the server must see who sent it here.
  if (mode !== "navigate" || method !== "GET" || search || !PAGES.includes(pathname.slice(BELOW.length))) return;
  event.respondWith(fetch(event.request).catch(away));
});

function away() {
  const tongue = navigator.language;
  const traditional = /^zh-(hant|(?!hans)(.*-)?(tw|hk|mo)\b)/i.test(tongue);
  const shell = SHELLS[traditional ? "zh-Hant" : /^zh\b/i.test(tongue) ? "zh" : "en"];
  const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": POLICY, "Cache-Control": "no-store" };
  return new Response(shell, { status: 503, headers });
}

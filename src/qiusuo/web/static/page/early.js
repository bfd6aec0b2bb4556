// Before the first paint: the appearance that was chosen, or the system's.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("qiusuo.theme");
  } catch {
    // Nothing is kept.
  }
  const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();

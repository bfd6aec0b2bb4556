// Before the first paint: the appearance that was chosen last time.
(() => {
  try {
    const theme = localStorage.getItem("qiusuo.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Nothing is kept; the system's appearance it is.
  }
})();

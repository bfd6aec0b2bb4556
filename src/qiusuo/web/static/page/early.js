// Before the first paint: the language and the appearance that were chosen, or the system's.
(() => {
  const kept = (name) => {
    try {
      return localStorage.getItem(`qiusuo.${name}`);
    } catch {
      return null; // nothing is kept
    }
  };
  const root = document.documentElement;
  const theme = kept("theme");
  const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "dark" : "light";

  const known = ["zh", "zh-Hant", "en"];
  const system = /^zh-(hant|(?!hans)(.*-)?(tw|hk|mo)\b)/i.test(navigator.language) ? "zh-Hant" : /^zh\b/i.test(navigator.language) ? "zh" : "en";
  root.dataset.language = known.find((one) => one === kept("language")) ?? system;
  const { src, dataset } = document.currentScript;
  for (const words of dataset.words?.split(" ") ?? []) {
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = new URL(`${words}/${root.dataset.language}.js`, src).href;
    document.head.append(link);
  }
})();

/**
 * Load a style sheet that only a part of this room needs, once.
 *
 * @param {string} name a file beside this module
 * @returns {Promise<void>} when it is there, or cannot be had
 */
export function loadStyle(name) {
  const href = new URL(name, import.meta.url).href;
  const links = /** @type {HTMLLinkElement[]} */ ([...document.querySelectorAll('link[rel="stylesheet"]')]);
  if (links.some((link) => link.href === href)) return Promise.resolve();
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = href;
  return new Promise((resolve) => {
    link.onload = link.onerror = () => resolve();
    document.head.append(link);
  });
}

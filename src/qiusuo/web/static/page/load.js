/** Parts of the page that are loaded when they are needed. */
import { useEffect, useState } from "./vendor.js";

/**
 * @template T
 * @param {() => Promise<T>} load
 * @param {boolean} needed
 * @returns {T | null} null until it is there
 */
export function useLater(load, needed) {
  const [part, setPart] = useState(/** @type {T | null} */ (null));
  useEffect(() => {
    if (needed && !part) load().then((found) => setPart(() => found)).catch(() => {}); // tried again with the next need
  }, [needed]);
  return part;
}

/** JSX without a build step, and a component that is drawn anew only when its properties change. */
import { Component, h, htm } from "./vendor.js";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);

/**
 * @template {object} P
 * @param {(props: P) => any} draw
 * @returns {(props: P & {key?: string | number}) => any}
 */
export function memo(draw) {
  class Memo extends Component {
    /** @param {any} next */
    shouldComponentUpdate(next) {
      const props = /** @type {any} */ (this.props);
      for (const name in next) if (next[name] !== props[name]) return true;
      for (const name in props) if (!(name in next)) return true;
      return false;
    }

    render() {
      return h(/** @type {any} */ (draw), /** @type {any} */ (this.props));
    }
  }
  return /** @type {any} */ (Memo);
}

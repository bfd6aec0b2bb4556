/** Says the words of what is loaded later. */
import { saying } from "../i18n.js";

/** @import { Language } from "../types.js" */

/** @type {(tongue: Language) => Promise<typeof import("./words/en.js")>} */
const load = (tongue) => import(`./words/${tongue}.js`);

export const tr = await saying(load);

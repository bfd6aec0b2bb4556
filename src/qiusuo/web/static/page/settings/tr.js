/** Says the words of this page. */
import { saying } from "../i18n.js";
import { WORDS } from "./words.js";

export const tr = saying(WORDS);

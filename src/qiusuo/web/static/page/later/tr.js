/** Says the words of what is loaded later. */
import { saying } from "../i18n.js";
import { WORDS } from "./words.js";

export const tr = saying(WORDS);

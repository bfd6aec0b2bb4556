/** What the parts of this room say. */
import { saying } from "../i18n.js";
import { WORDS } from "./words.js";

export const tr = saying(WORDS);

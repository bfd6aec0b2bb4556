/** What the parts of this room say. */
import { ApiError } from "../api.js";
import { saying } from "../i18n.js";
import { messageOf } from "../failures.js";
import { WORDS } from "./words.js";

export const tr = saying(WORDS);

/** @param {unknown} error @returns {string} why something was not done, in the server's words where it has any */
export function failure(error) {
  if (error instanceof ApiError && error.status) return [error.message, error.fix].filter(Boolean).join(" ");
  return messageOf(error);
}

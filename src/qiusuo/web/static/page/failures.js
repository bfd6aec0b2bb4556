/** What went wrong, in words. */
import { ApiError } from "./api.js";
import { t } from "./i18n.js";

/** As many are kept as may be. */
export const LIMIT = "LimitReached";

/** @param {unknown} error @returns {string} */
export function messageOf(error) {
  if (error instanceof ApiError) {
    if (error.kind === LIMIT) return t("historyFull");
    return error.status === 0 ? t("cannotStart") : [error.message, error.fix].filter(Boolean).join(" ");
  }
  return error instanceof Error ? error.message : String(error);
}

/** What went wrong, in words. */
import { ApiError } from "./api.js";
import { t } from "./i18n.js";

/** As many are kept as may be. */
export const LIMIT = "LimitReached";

/** @param {unknown} error @returns {string} as the server says it; of single settings what is wrong with the first one */
export function messageOf(error) {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  if (error.status === 0) return t("cannotStart");
  const [field] = Object.values(error.fields);
  return field?.message ?? [error.message, error.fix].filter(Boolean).join(" ");
}

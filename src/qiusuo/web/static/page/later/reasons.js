/** Why something could not be done, as the server says it. */
import { ApiError } from "../api.js";
import { t } from "../i18n.js";

/** @param {unknown} error @returns {string} of single settings what is wrong with the first one */
export function reasonOf(error) {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  if (error.status === 0) return t("cannotStart");
  const [field] = Object.values(error.fields);
  return field?.message ?? [error.message, error.fix].filter(Boolean).join(" ");
}

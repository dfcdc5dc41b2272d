import type { Response } from "@antiphon/contracts/responses-api/types.ts";

/**
 * Whether an item has a summary and raw reasoning. It does not tell which came first, and completions and messages have
 * one place for both; no engine sends both.
 */
export function hasBothReasonings({ output }: Response): boolean {
  return output.some((item) => item.type === "reasoning" && item.summary.length > 0 && (item.content ?? []).length > 0);
}

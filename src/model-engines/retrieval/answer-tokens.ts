import { isRecord } from "@antiphon/base/json/records.ts";

/** The tokens that an answer counts, in `usage` or, as Cohere's, in `meta`; null if it counts none. */
export function tokensIn(answer: unknown): number | null {
  if (!isRecord(answer)) return null;
  const { usage, meta } = answer;
  const billed = isRecord(meta) ? (meta["tokens"] ?? meta["billed_units"]) : null;
  const counts = isRecord(usage) ? [usage["prompt_tokens"], usage["total_tokens"]] : [];
  const other = isRecord(billed) ? [billed["input_tokens"], billed["total_tokens"]] : [];
  for (const count of [...counts, ...other])
    if (typeof count === "number" && Number.isSafeInteger(count) && count > 0) return count;
  return null;
}

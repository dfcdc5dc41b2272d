import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";

/** More tokens than any turn can take; a larger number is invalid. */
const TOKENS_MAX = 1_000_000_000;

/** The token counts of a response. Null if a total is missing or invalid, because an estimate is then better. */
export function readResponseUsage(usage: unknown): ModelUsage | null {
  if (!isRecord(usage)) return null;
  const inputTokens = readCount(usage["input_tokens"]);
  const outputTokens = readCount(usage["output_tokens"]);
  if (inputTokens === null || outputTokens === null) return null;
  const input = isRecord(usage["input_tokens_details"]) ? usage["input_tokens_details"] : {};
  const output = isRecord(usage["output_tokens_details"]) ? usage["output_tokens_details"] : {};
  return {
    inputTokens,
    cachedTokens: readCount(input["cached_tokens"]) ?? 0,
    cacheWriteTokens: readCount(input["cache_write_tokens"]) ?? 0,
    outputTokens,
    reasoningTokens: readCount(output["reasoning_tokens"]) ?? 0,
  };
}

function readCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : null;
}

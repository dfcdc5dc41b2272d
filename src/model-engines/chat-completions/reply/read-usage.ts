import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { JsonObject } from "../../model-server/json-values.ts";

/** More tokens than any turn can take; a larger number is invalid. */
const TOKENS_MAX = 1_000_000_000;

/**
 * Token counts in the formats of the reference, DeepSeek, Moonshot and gateways to Anthropic. Null if a total is
 * invalid, such as 1e308, -1 or "12", because an estimate is then better. Invalid details are 0.
 */
export function readUsage(usage: JsonObject): ModelUsage | null {
  const input = isRecord(usage["prompt_tokens_details"]) ? usage["prompt_tokens_details"] : {};
  const output = isRecord(usage["completion_tokens_details"]) ? usage["completion_tokens_details"] : {};
  const inputTokens = readCount(usage["prompt_tokens"] ?? 0);
  const outputTokens = readCount(usage["completion_tokens"] ?? 0);
  if (inputTokens === null || outputTokens === null) return null;
  return {
    inputTokens,
    cachedTokens: firstCount(
      input["cached_tokens"],
      usage["prompt_cache_hit_tokens"],
      usage["cached_tokens"],
      usage["cache_read_input_tokens"],
    ),
    cacheWriteTokens: firstCount(
      input["cache_write_tokens"],
      input["cache_creation_tokens"],
      usage["cache_creation_input_tokens"],
    ),
    outputTokens,
    reasoningTokens: firstCount(output["reasoning_tokens"], usage["reasoning_tokens"]),
  };
}

function firstCount(...values: readonly unknown[]): number {
  return values.map(readCount).find((count) => count !== null && count > 0) ?? 0;
}

function readCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : null;
}

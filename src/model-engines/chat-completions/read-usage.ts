import { isRecord } from "../../base/records.ts";
import type { ModelUsage } from "../../runs/ports.ts";
import { countOrZero, type JsonObject } from "./json-values.ts";

/** Token counts in the words of the reference, of DeepSeek, of Moonshot and of gateways to Anthropic. */
export function readUsage(usage: JsonObject): ModelUsage {
  const input = isRecord(usage["prompt_tokens_details"]) ? usage["prompt_tokens_details"] : {};
  const output = isRecord(usage["completion_tokens_details"]) ? usage["completion_tokens_details"] : {};
  return {
    inputTokens: countOrZero(usage["prompt_tokens"]),
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
    outputTokens: countOrZero(usage["completion_tokens"]),
    reasoningTokens: firstCount(output["reasoning_tokens"], usage["reasoning_tokens"]),
  };
}

function firstCount(...values: readonly unknown[]): number {
  for (const value of values) {
    const count = countOrZero(value);
    if (count > 0) return count;
  }
  return 0;
}

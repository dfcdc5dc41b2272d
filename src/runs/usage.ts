import type { Usage } from "../../generated/responses-api/types.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import type { ModelUsage } from "./ports.ts";

/** What usage is taken to be where the model server counts none. */
export interface UsageEstimate {
  readonly inputTokens: number;
  /** Of everything that the model said. */
  readonly outputCharacters: number;
}

/** The `usage` of a response. `counted` is what the model server said, if it said anything. */
export function usageOf(counted: ModelUsage | null, estimate: UsageEstimate): Usage {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens } = counted ?? {
    inputTokens: estimate.inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: estimateTokens(estimate.outputCharacters),
    reasoningTokens: 0,
  };
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cache_write_tokens: cacheWriteTokens, cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

import type { Response, Usage } from "../../generated/responses-api/types.ts";
import type { ModelUsage } from "./ports.ts";
import type { Answering, FinishReason, RunFailure } from "./run-state.ts";

/** The final snapshot of a run whose model finished, whole or cut short. `at` in Unix seconds. */
export function finishedResponse(state: Answering, at: number): Response {
  const whole = state.finish === "stop";
  return {
    ...state.plan.response,
    status: whole ? "completed" : "incomplete",
    completed_at: whole ? at : null,
    incomplete_details: whole ? null : { reason: cutReason(state.finish) },
    model: state.model,
    output: [...state.output],
    service_tier: tierOf(state.plan.response),
    usage: usageOf(state.usage, {
      inputTokens: state.plan.inputTokensEstimate,
      outputCharacters: state.characters,
    }),
  };
}

export function failedResponse(state: Answering, failure: RunFailure): Response {
  return {
    ...state.plan.response,
    status: "failed",
    error: { code: failure.responseCode, message: failure.message },
    output: [...state.output],
  };
}

export function cancelledResponse(state: Answering): Response {
  return { ...state.plan.response, status: "cancelled", output: [...state.output] };
}

/** There is one tier here, but for those that were asked for by name. */
function tierOf({ service_tier: tier }: Response): Response["service_tier"] {
  return tier === "auto" ? "default" : tier;
}

function cutReason(finish: FinishReason | null): "max_output_tokens" | "content_filter" {
  return finish === "content_filter" ? "content_filter" : "max_output_tokens";
}

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

/** How many characters of text one token is taken to be where the model server counts none. */
const CHARACTERS_PER_TOKEN = 4;

export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

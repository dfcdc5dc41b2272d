import type { Response, ResponseNote, Usage } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { Answering, FinishReason, RunFailure } from "./run-state.ts";

/** The final snapshot of a run whose model finished, completely or cut short. `at` is in Unix seconds. */
export function finishedResponse(state: Answering, at: number): Response {
  const whole = state.finish === "stop";
  return {
    ...responseSoFar(state),
    status: whole ? "completed" : "incomplete",
    completed_at: whole ? at : null,
    incomplete_details: whole ? null : { reason: cutReason(state.finish) },
    ...(state.stopSequence === null ? {} : { stop_sequence: state.stopSequence }),
    model: state.model,
    service_tier: tierOf(state.plan.response),
    usage: usageOf(state),
  };
}

/** What a run used that ended early, as far as it is known; null if its model said nothing. */
export function usageSoFar(state: Answering): Usage | null {
  return state.usage === null && state.characters === 0 && state.output.length === 0 ? null : usageOf(state);
}

function usageOf(state: Answering): Usage {
  return responseUsage(state.usage, {
    inputTokens: state.plan.inputTokensEstimate,
    outputCharacters: state.characters,
    outputTokensMax: state.plan.response.max_output_tokens,
  });
}

/** Notes that are only known at the end. */
export function notesAtEnd({ usage }: Answering): readonly ResponseNote[] {
  return usage === null || usage.isEstimate === true ? [ESTIMATED_USAGE] : [];
}

const ESTIMATED_USAGE: ResponseNote = {
  kind: "emulated",
  what: "usage",
  why: "The model server sent no token counts, so the usage is an estimate.",
};

export function failedResponse(state: Answering, failure: RunFailure): Response {
  return {
    ...responseSoFar(state),
    status: "failed",
    error: { code: failure.responseCode, message: failure.message },
  };
}

export function cancelledResponse(state: Answering): Response {
  return { ...responseSoFar(state), status: "cancelled" };
}

function responseSoFar({ plan: { response }, output, toolUsage }: Answering): Response {
  return { ...response, output: [...output], tool_usage: toolUsage ?? response.tool_usage };
}

/** `auto` becomes `default`; any other tier is echoed. */
function tierOf({ service_tier: tier }: Response): Response["service_tier"] {
  return tier === "auto" ? "default" : tier;
}

function cutReason(finish: FinishReason | null): "max_output_tokens" | "content_filter" | "steered" {
  return finish === "content_filter" || finish === "steered" ? finish : "max_output_tokens";
}

/** Replaces usage that the model server does not report. */
export interface UsageEstimate {
  readonly inputTokens: number;
  /** The characters of the whole answer. */
  readonly outputCharacters: number;
  /** Null: no limit. */
  readonly outputTokensMax: number | null;
}

/** The `usage` of a response. `modelUsage` is the model server's own count, or null. */
export function responseUsage(modelUsage: ModelUsage | null, estimate: UsageEstimate): Usage {
  const { inputTokens, cachedTokens, cacheWriteTokens, outputTokens, reasoningTokens } = modelUsage ?? {
    inputTokens: estimate.inputTokens,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: Math.min(estimateTokens(estimate.outputCharacters), estimate.outputTokensMax ?? Infinity),
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

/** The estimated number of characters in a token. */
const CHARACTERS_PER_TOKEN = 4;

export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

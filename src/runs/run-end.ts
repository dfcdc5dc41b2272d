import type { Response } from "../../generated/responses-api/types.ts";
import type { Answering, FinishReason, RunFailure } from "./run-state.ts";
import { usageOf } from "./usage.ts";

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

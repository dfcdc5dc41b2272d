import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { RunPlan } from "./run-state.ts";

/** The plan of the smallest request. */
export function aPlan(changes: Partial<RunPlan> = {}): RunPlan {
  return {
    response: aResponse(),
    ids: { key: "0123456789abcdef", createdAt: 1_800_000_000, seed: "fedcba9876543210" },
    rawReasoningAs: "text",
    sealReasoning: null,
    inputTokensEstimate: 3,
    ...changes,
  };
}

export function aResponse(changes: Partial<Response> = {}): Response {
  return {
    id: "resp_0123456789abcdef006b49d200fedcba987654321000000000",
    object: "response",
    created_at: 1_800_000_000,
    status: "in_progress",
    access_programs: null,
    background: false,
    completed_at: null,
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: "a-model",
    moderation: null,
    output: [],
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_retention: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: "auto",
    store: true,
    temperature: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_choice: "auto",
    tool_usage: {
      image_gen: {
        input_tokens: 0,
        input_tokens_details: { image_tokens: 0, text_tokens: 0 },
        output_tokens: 0,
        output_tokens_details: { image_tokens: 0, text_tokens: 0 },
        total_tokens: 0,
      },
      web_search: { num_requests: 0 },
    },
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: null,
    user: null,
    metadata: {},
    ...changes,
  };
}

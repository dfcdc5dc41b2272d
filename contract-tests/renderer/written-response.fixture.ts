/** A whole response of the reference, written by hand from its documented and recorded wire format. */
export interface WrittenResponse {
  readonly id: string;
  readonly model: string;
  readonly isReasoning: boolean;
  readonly store: boolean;
  readonly hasTool: boolean;
}

export interface WrittenEnd {
  readonly status: "completed" | "incomplete" | "failed";
  readonly output: readonly object[];
  readonly error?: { readonly code: string; readonly message: string };
  readonly tokens?: { readonly input: number; readonly output: number; readonly reasoning: number };
}

const CREATED_AT = 1_784_759_811;

/** With `end` null, writes the snapshot of a stream's first event. */
export function writeResponse(
  { id, model, isReasoning, store, hasTool }: WrittenResponse,
  end: WrittenEnd | null,
): object {
  return {
    id,
    object: "response",
    created_at: CREATED_AT,
    status: end?.status ?? "in_progress",
    background: false,
    completed_at: end?.status === "completed" ? CREATED_AT + 3 : null,
    error: end?.error ?? null,
    frequency_penalty: 0,
    incomplete_details: end?.status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model,
    moderation: null,
    output: end?.output ?? [],
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_retention: "in_memory",
    reasoning: isReasoning
      ? { context: "current_turn", effort: "high", mode: "standard", summary: "detailed" }
      : { context: null, effort: null, summary: null },
    safety_identifier: null,
    service_tier: end === null || end.status === "failed" ? "auto" : "default",
    store,
    temperature: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_choice: "auto",
    tool_usage: NO_TOOL_USAGE,
    tools: hasTool ? [CALCULATOR] : [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: end?.tokens === undefined ? null : writeUsage(end.tokens),
    user: null,
    metadata: {},
  };
}

function writeUsage({ input, output, reasoning }: { input: number; output: number; reasoning: number }): object {
  return {
    input_tokens: input,
    input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

const NO_TOOL_USAGE = {
  image_gen: {
    input_tokens: 0,
    input_tokens_details: { image_tokens: 0, text_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { image_tokens: 0, text_tokens: 0 },
    total_tokens: 0,
  },
  web_search: { num_requests: 0 },
};

const CALCULATOR = {
  type: "function",
  name: "calculator",
  description: "A minimal calculator for basic arithmetic. Call it once per step.",
  parameters: { type: "object", properties: {}, required: [], additionalProperties: false },
  strict: true,
};

import type { OutputItem, Response } from "@antiphon/contracts/responses-api/types.ts";
import { MatchersV3 } from "@pact-foundation/pact";
import { shapeOf } from "../shape.fixture.ts";
import { EXAMPLE_MODEL } from "./interaction.fixture.ts";

export const RESPONSE_ID = "resp_0123456789abcdef00670000000123456789abcdef01234567";
export const MESSAGE_ID = "msg_0123456789abcdef00670000000123456789abcdef01234567";

export function messageSaying(text: string): OutputItem & { readonly type: "message" } {
  return {
    id: MESSAGE_ID,
    type: "message",
    status: "completed",
    content: [{ type: "output_text", annotations: [], logprobs: [], text }],
    role: "assistant",
  };
}

/** A completed response with exactly the members that the reference always sends. */
export function exampleResponse(members: Partial<Response> = {}): Response {
  return {
    id: RESPONSE_ID,
    object: "response",
    created_at: 1_795_000_000,
    status: "completed",
    access_programs: null,
    background: false,
    completed_at: 1_795_000_001,
    error: null,
    frequency_penalty: 0,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    model: EXAMPLE_MODEL,
    moderation: null,
    output: [messageSaying("hello")],
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    prompt_cache_retention: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: "default",
    store: true,
    temperature: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
    tool_choice: "auto",
    tool_usage: { image_gen: NO_IMAGES, web_search: { num_requests: 0 } },
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    usage: USAGE,
    user: null,
    metadata: {},
    ...members,
  };
}

/** The snapshot in the events of a running stream. */
export function runningResponse(): Response {
  return exampleResponse({ status: "in_progress", completed_at: null, output: [], service_tier: "auto", usage: null });
}

/** Returns the shape of a response. `loose` has matchers that replace single members. */
export function responseShape(members: Partial<Response> = {}, loose: Readonly<Record<string, unknown>> = {}): unknown {
  return shapeOf({ ...exampleResponse(members), ...ECHO_BY_MODEL, ...loose });
}

/** Models differ in how they echo a request without `reasoning`. */
const ECHO_BY_MODEL = { reasoning: MatchersV3.like({}) };

const USAGE = {
  input_tokens: 2,
  input_tokens_details: { cache_write_tokens: 0, cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 3,
};

const NO_IMAGES = {
  input_tokens: 0,
  input_tokens_details: { image_tokens: 0, text_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { image_tokens: 0, text_tokens: 0 },
  total_tokens: 0,
};

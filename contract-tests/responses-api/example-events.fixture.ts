import type { Annotation, OutputItem, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { exampleResponse, MESSAGE_ID, messageSaying, runningResponse } from "./example-response.fixture.ts";

export const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "Tells the weather of a city.",
  strict: true,
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
} as const;

export const CHOOSE_WEATHER = { type: "function", name: WEATHER.name } as const;

export const CALL = {
  id: "fc_0123456789abcdef00670000000123456789abcdef01234567",
  type: "function_call",
  status: "completed",
  arguments: '{"city":"Rome"}',
  call_id: "call_0123456789abcdefghijklmn",
  name: "get_weather",
} as const satisfies OutputItem;

export const CUSTOM_CALL = {
  id: "ctc_0123456789abcdef00670000000123456789abcdef01234567",
  type: "custom_tool_call",
  status: "completed",
  call_id: "call_0123456789abcdefghijklmn",
  input: "ls",
  name: "run_shell",
} as const satisfies OutputItem;

/** The second call where the model calls two functions at once. */
export const SECOND_CALL = { ...CALL, name: "get_time" } as const satisfies OutputItem;

const REASONING_ID = "rs_0123456789abcdef00670000000123456789abcdef01234567";
const IN_MESSAGE = { item_id: MESSAGE_ID, output_index: 0, content_index: 0 } as const;
const IN_CALL = { item_id: CALL.id, output_index: 0 } as const;
const IN_CUSTOM_CALL = { item_id: CUSTOM_CALL.id, output_index: 0 } as const;
const IN_REASONING = { item_id: REASONING_ID, output_index: 0, content_index: 0 } as const;
const IN_SUMMARY = { item_id: REASONING_ID, output_index: 0, summary_index: 0 } as const;

const TEXT_PART = { type: "output_text", annotations: [], logprobs: [], text: "hello" } as const;
const THOUGHT = "The request asks for a greeting.";
const CUT_MESSAGE = { ...messageSaying("The sea"), status: "incomplete" } as const;
const FAILURE = { code: "server_error", message: "The model broke off." } as const;

/** An event without its sequence number, which depends on its place in the stream. */
export type ExampleEvent = Unnumbered<ResponseStreamEvent>;
export type Unnumbered<Event> = Event extends unknown ? Omit<Event, "sequence_number"> : never;

/** The first events of every stream. */
export const PREFIX: readonly ExampleEvent[] = [
  { type: "response.created", response: runningResponse() },
  { type: "response.in_progress", response: runningResponse() },
];

/** All events of one message item. */
export const TEXT_BLOCK: readonly ExampleEvent[] = [
  {
    type: "response.output_item.added",
    output_index: 0,
    item: { ...messageSaying(""), status: "in_progress", content: [] },
  },
  {
    type: "response.content_part.added",
    ...IN_MESSAGE,
    part: { ...TEXT_PART, annotations: [], logprobs: [], text: "" },
  },
  { type: "response.output_text.delta", ...IN_MESSAGE, delta: "hello", logprobs: [], obfuscation: "C3pzECvwdlY" },
  { type: "response.output_text.done", ...IN_MESSAGE, text: "hello", logprobs: [] },
  { type: "response.content_part.done", ...IN_MESSAGE, part: { ...TEXT_PART, annotations: [], logprobs: [] } },
  { type: "response.output_item.done", output_index: 0, item: messageSaying("hello") },
];

export const CALL_BLOCK: readonly ExampleEvent[] = [
  { type: "response.output_item.added", output_index: 0, item: { ...CALL, status: "in_progress", arguments: "" } },
  { type: "response.function_call_arguments.delta", ...IN_CALL, delta: CALL.arguments, obfuscation: "C" },
  { type: "response.function_call_arguments.done", ...IN_CALL, arguments: CALL.arguments, name: CALL.name },
  { type: "response.output_item.done", output_index: 0, item: CALL },
];

export const CUSTOM_CALL_BLOCK: readonly ExampleEvent[] = [
  { type: "response.output_item.added", output_index: 0, item: { ...CUSTOM_CALL, status: "in_progress", input: "" } },
  { type: "response.custom_tool_call_input.delta", ...IN_CUSTOM_CALL, delta: CUSTOM_CALL.input },
  { type: "response.custom_tool_call_input.done", ...IN_CUSTOM_CALL, input: CUSTOM_CALL.input },
  { type: "response.output_item.done", output_index: 0, item: CUSTOM_CALL },
];

export const COMPLETED: ExampleEvent = { type: "response.completed", response: exampleResponse() };
export const INCOMPLETE: ExampleEvent = {
  type: "response.incomplete",
  response: exampleResponse({
    status: "incomplete",
    completed_at: null,
    incomplete_details: { reason: "max_output_tokens" },
    max_output_tokens: 16,
    output: [CUT_MESSAGE],
  }),
};

export const REFUSAL_EVENTS: readonly ExampleEvent[] = [
  { type: "response.content_part.added", ...IN_MESSAGE, part: { type: "refusal", refusal: "" } },
  { type: "response.refusal.delta", ...IN_MESSAGE, delta: "No.", obfuscation: "C3pzECvwdlYx3" },
  { type: "response.refusal.done", ...IN_MESSAGE, refusal: "No." },
  { type: "response.content_part.done", ...IN_MESSAGE, part: { type: "refusal", refusal: "No." } },
];

export const CITATION_EVENTS: readonly ExampleEvent[] = [
  citation({ type: "url_citation", start_index: 0, end_index: 5, title: "Paris", url: "https://example.com/paris" }),
  citation({ type: "file_citation", file_id: "file-paris", filename: "paris.pdf", index: 5 }),
  citation({
    type: "container_file_citation",
    container_id: "cntr_paris",
    file_id: "cfile_paris",
    filename: "paris.csv",
    start_index: 0,
    end_index: 5,
  }),
  citation({ type: "file_path", file_id: "file-paris", index: 5 }),
];

function citation(annotation: Annotation): ExampleEvent {
  return { type: "response.output_text.annotation.added", ...IN_MESSAGE, annotation_index: 0, annotation };
}

export const SUMMARY_EVENTS: readonly ExampleEvent[] = [
  { type: "response.output_item.added", output_index: 0, item: { id: REASONING_ID, type: "reasoning", summary: [] } },
  { type: "response.reasoning_summary_part.added", ...IN_SUMMARY, part: { type: "summary_text", text: "" } },
  { type: "response.reasoning_summary_text.delta", ...IN_SUMMARY, delta: "**Greeting**", obfuscation: "C3pz" },
  { type: "response.reasoning_summary_text.done", ...IN_SUMMARY, text: THOUGHT },
  { type: "response.reasoning_summary_part.done", ...IN_SUMMARY, part: { type: "summary_text", text: THOUGHT } },
  {
    type: "response.output_item.done",
    output_index: 0,
    item: { id: REASONING_ID, type: "reasoning", summary: [{ type: "summary_text", text: THOUGHT }] },
  },
];

/** Raw reasoning text, which models with open weights send and the reference's models do not. */
export const REASONING_EVENTS: readonly ExampleEvent[] = [
  { type: "response.content_part.added", ...IN_REASONING, part: { type: "reasoning_text", text: "" } },
  { type: "response.reasoning_text.delta", ...IN_REASONING, delta: "The" },
  { type: "response.reasoning_text.done", ...IN_REASONING, text: THOUGHT },
  { type: "response.content_part.done", ...IN_REASONING, part: { type: "reasoning_text", text: THOUGHT } },
];

export const FAILURE_EVENTS: readonly ExampleEvent[] = [
  { type: "error", error: { type: "server_error", ...FAILURE, param: null } },
  {
    type: "response.failed",
    response: exampleResponse({
      status: "failed",
      completed_at: null,
      error: FAILURE,
      output: [CUT_MESSAGE],
      service_tier: "auto",
      usage: null,
    }),
  },
];

import type { ExampleEvent } from "./example-events.fixture.ts";
import { CALL_BLOCK, SECOND_CALL, TEXT_BLOCK } from "./example-events.fixture.ts";
import { exampleResponse, MESSAGE_ID, messageSaying, runningResponse } from "./example-response.fixture.ts";

const background = true;
const QUEUED = { ...runningResponse(), background, status: "queued" } as const;

/** Events of a background response, which have no padding. */
export const BACKGROUND_EVENTS: readonly ExampleEvent[] = [
  { type: "response.created", response: QUEUED },
  { type: "response.queued", response: QUEUED },
  { type: "response.in_progress", response: { ...runningResponse(), background } },
  {
    type: "response.output_text.delta",
    item_id: MESSAGE_ID,
    output_index: 0,
    content_index: 0,
    delta: "hello",
    logprobs: [],
  },
  { type: "response.completed", response: exampleResponse({ background }) },
];

/** The events after the sequence number of `response.in_progress`. */
export const REPLAYED_EVENTS: readonly ExampleEvent[] = [
  ...TEXT_BLOCK.filter(({ type }) => type.endsWith(".done")),
  ...BACKGROUND_EVENTS.slice(-2),
];

/** A cancelled response ends like a failed one. */
export const CANCELLED_EVENTS: readonly ExampleEvent[] = [
  {
    type: "response.failed",
    response: exampleResponse({
      background,
      status: "cancelled",
      completed_at: null,
      output: [{ ...messageSaying("The sea"), status: "incomplete" }],
      service_tier: "auto",
      usage: null,
    }),
  },
];

const FILTERED = { ...messageSaying("The sea"), status: "incomplete" } as const;

export const FILTERED_EVENTS: readonly ExampleEvent[] = [
  { type: "response.output_item.done", output_index: 0, item: FILTERED },
  {
    type: "response.incomplete",
    response: exampleResponse({
      status: "incomplete",
      completed_at: null,
      incomplete_details: { reason: "content_filter" },
      output: [FILTERED],
    }),
  },
];

/** The events of the second of two calls. */
export const SECOND_CALL_EVENTS: readonly ExampleEvent[] = CALL_BLOCK.map((event) => {
  switch (event.type) {
    case "response.output_item.added":
      return { ...event, output_index: 1, item: { ...SECOND_CALL, status: "in_progress", arguments: "" } };
    case "response.output_item.done":
      return { ...event, output_index: 1, item: SECOND_CALL };
    default:
      return { ...event, output_index: 1 };
  }
});

const COMMENTARY = { ...messageSaying("Let me see."), phase: "commentary" } as const;

export const COMMENTARY_EVENTS: readonly ExampleEvent[] = [
  {
    type: "response.output_item.added",
    output_index: 0,
    item: { ...COMMENTARY, status: "in_progress", content: [] },
  },
  { type: "response.output_item.done", output_index: 0, item: COMMENTARY },
];

const COMPACTION = {
  id: "cmp_0123456789abcdef00670000000123456789abcdef01234567",
  type: "compaction",
  encrypted_content: "gAAAAA",
} as const;

export const COMPACTION_EVENTS: readonly ExampleEvent[] = [
  { type: "response.output_item.added", output_index: 0, item: COMPACTION },
  { type: "response.output_item.done", output_index: 0, item: COMPACTION },
];

const LOGPROB = { token: "hello", bytes: [104, 101, 108, 108, 111], logprob: -0.1, top_logprobs: [] };
const IN_MESSAGE = { item_id: MESSAGE_ID, output_index: 0, content_index: 0 } as const;

export const LOGPROB_EVENTS: readonly ExampleEvent[] = [
  {
    type: "response.output_text.delta",
    ...IN_MESSAGE,
    delta: "hello",
    logprobs: [LOGPROB],
    obfuscation: "C3pzECvwdlY",
  },
  { type: "response.output_text.done", ...IN_MESSAGE, text: "hello", logprobs: [LOGPROB] },
];

const SEARCH = {
  id: "tsc_0123456789abcdef00670000000123456789abcdef01234567",
  type: "tool_search_call",
  status: "completed",
  arguments: { query: "weather" },
  call_id: "call_0123456789abcdefghijklmn",
  execution: "client",
} as const;

export const TOOL_SEARCH_EVENTS: readonly ExampleEvent[] = [
  { type: "response.output_item.added", output_index: 0, item: { ...SEARCH, status: "in_progress", arguments: {} } },
  { type: "response.output_item.done", output_index: 0, item: SEARCH },
];

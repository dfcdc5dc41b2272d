import type { DialectStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { CALL, CUSTOM_CALL, type ExampleEvent, type Unnumbered } from "./example-events.fixture.ts";

export type ExampleDialectEvent = Unnumbered<DialectStreamEvent>;

const SOUND = "AAABAP//AgA=";

export const TRANSCRIPT_EVENTS: readonly ExampleEvent[] = [
  { type: "response.audio.transcript.delta", delta: "Hello there." },
  { type: "response.audio.transcript.done" },
];

/** Audio events under the reference's names. */
export const SOUND_EVENTS: readonly ExampleEvent[] = [
  { type: "response.audio.delta", delta: SOUND },
  { type: "response.audio.done" },
];

export const DIALECT_SOUND_EVENTS: readonly ExampleDialectEvent[] = [
  { type: "response.output_audio.delta", delta: SOUND },
  { type: "response.output_audio.done" },
];

const IN_CALL = { item_id: CALL.id, output_index: 0 } as const;
const IN_CUSTOM_CALL = { item_id: CUSTOM_CALL.id, output_index: 0 } as const;

export const DIALECT_CALL_EVENTS: readonly ExampleDialectEvent[] = [
  { type: "response.tool_call.delta", ...IN_CALL, delta: CALL.arguments, obfuscation: "C" },
  { type: "response.tool_call.done", ...IN_CALL, arguments: CALL.arguments },
];

export const DIALECT_CUSTOM_CALL_EVENTS: readonly ExampleDialectEvent[] = [
  { type: "response.tool_call.delta", ...IN_CUSTOM_CALL, delta: CUSTOM_CALL.input },
  { type: "response.tool_call.done", ...IN_CUSTOM_CALL, input: CUSTOM_CALL.input },
];

export const DIALECT_FAILURE_EVENTS: readonly ExampleDialectEvent[] = [
  { type: "response.error", code: "server_error", message: "The model broke off.", param: null },
];

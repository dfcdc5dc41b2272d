import type { Parties } from "../pact-files.fixture.ts";
import {
  CALL_BLOCK,
  CITATION_EVENTS,
  COMPLETED,
  CUSTOM_CALL_BLOCK,
  type ExampleEvent,
  FAILURE_EVENTS,
  INCOMPLETE,
  PREFIX,
  REASONING_EVENTS,
  REFUSAL_EVENTS,
  SUMMARY_EVENTS,
  TEXT_BLOCK,
} from "./example-events.fixture.ts";

/** Events that a request alone brings about, at any provider. */
export const STREAM_EVENTS: Parties = { consumer: "event-reader", provider: "responses-api" };
/** Events that only a model with stage directions brings about reliably. */
export const STAGED_EVENTS: Parties = { consumer: "staged-event-reader", provider: "responses-api" };

/** What a reader of streams may meet, and the events that are new in it. */
export const SITUATIONS = {
  "a model that answers": [...PREFIX, ...TEXT_BLOCK, COMPLETED],
  "a model that calls a function": CALL_BLOCK,
  "a model that calls a custom tool": CUSTOM_CALL_BLOCK,
  "a model that is cut short": [INCOMPLETE],
} as const satisfies Record<string, readonly ExampleEvent[]>;

export const STAGED_SITUATIONS = {
  "a model that refuses": REFUSAL_EVENTS,
  "a model that cites": CITATION_EVENTS,
  "a model that summarises its reasoning": SUMMARY_EVENTS,
  "a model that shows its reasoning": REASONING_EVENTS,
  "a model that breaks off": FAILURE_EVENTS,
} as const satisfies Record<string, readonly ExampleEvent[]>;

/** Tells apart events of one type that carry different things: "response.output_item.added of a message". */
export function nameOfEvent(event: unknown): string {
  const { type, item, part } = Object(event);
  const carried: unknown = item?.type ?? part?.type;
  return typeof carried === "string" ? `${type} of ${carried}` : String(type);
}

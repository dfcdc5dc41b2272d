import type { ExampleEvent } from "./example-events.fixture.ts";
import { COMPACTING, INTERPRETER_EVENTS, KEEPALIVE, SHELL_OUTPUT_EVENTS } from "./hosted-tool-events.fixture.ts";

export interface PendingSituation {
  readonly reason: string;
  /** A tool of the request. The server refuses or omits it while the situation is pending. */
  readonly tool?: Readonly<Record<string, unknown>>;
  readonly events: readonly ExampleEvent[];
}

/**
 * Events that clients can read and our server does not send. A test fails once the server offers the tool or sends
 * such an event.
 */
export const PENDING_SITUATIONS: Readonly<Record<string, PendingSituation>> = {
  "a model that runs code": {
    reason: "our server has no code_interpreter yet",
    tool: { type: "code_interpreter", container: { type: "auto" } },
    events: INTERPRETER_EVENTS,
  },
  "a shell in a container": {
    reason: "our server has no containers yet",
    tool: { type: "shell", environment: { type: "container_auto" } },
    events: SHELL_OUTPUT_EVENTS,
  },
  "a conversation that is being compacted": {
    reason: "known from the official package only; our compaction is told by its item",
    events: COMPACTING,
  },
  "a stream in which nothing happens": {
    reason: "our server sends comment lines in place of this event",
    events: KEEPALIVE,
  },
};

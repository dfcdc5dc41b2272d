import type { ExampleEvent } from "./example-events.fixture.ts";
import { COMPACTING, KEEPALIVE } from "./hosted-tool-events.fixture.ts";

export interface PendingSituation {
  readonly reason: string;
  readonly events: readonly ExampleEvent[];
}

/** Events that clients can read and our server does not send. A test fails once it sends such an event. */
export const PENDING_SITUATIONS: Readonly<Record<string, PendingSituation>> = {
  "a conversation that is being compacted": {
    reason: "known from the official package only; our compaction is told by its item",
    events: COMPACTING,
  },
  "a stream in which nothing happens": {
    reason: "our server sends comment lines in place of this event",
    events: KEEPALIVE,
  },
};

import type { ModelEvent } from "../../runs/ports.ts";
import { isDelta } from "./step.ts";

export interface LimitedEvents {
  readonly events: readonly ModelEvent[];
  readonly cut: boolean;
}

/** Stops before the first delta that is one token too many; a block that would stay empty is not begun. */
export function limitTokens(events: readonly ModelEvent[], tokensMax: number): LimitedEvents {
  let tokens = 0;
  for (const [index, event] of events.entries()) {
    if (isDelta(event)) tokens += 1;
    if (tokens > tokensMax) return { events: withoutOpening(events.slice(0, index)), cut: true };
  }
  return { events, cut: false };
}

function withoutOpening(events: readonly ModelEvent[]): readonly ModelEvent[] {
  const last = events.at(-1);
  const opens =
    last?.type === "call_started" || last?.type === "message_started" || last?.type === "reasoning_summary_break";
  return opens ? events.slice(0, -1) : events;
}

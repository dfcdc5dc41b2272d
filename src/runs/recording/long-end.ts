import { isSmall, rememberInSlices } from "@antiphon/base/json/write-json.ts";
import type { ClosedRun } from "../ports/event-log.ts";
import type { WaitingEvent } from "../ports/packed-deltas.ts";

/**
 * Creates and caches the JSON of the end of a long run over several turns of the event loop: the text is in the
 * response, in its item, and in three events. Undefined for a short end, whose JSON is created on demand.
 */
export function makeLongEnd(events: readonly WaitingEvent[], end: ClosedRun): Promise<void> | undefined {
  return isSmall(end.outputItems) ? undefined : makeJson(events, end);
}

async function makeJson(events: readonly WaitingEvent[], { response, outputItems }: ClosedRun): Promise<void> {
  await rememberInSlices(response);
  for (const item of outputItems) await rememberInSlices(item);
  for (const event of events) if (event.template === null) await event.makeJson();
}

import { isSmall, rememberInSlices } from "../../base/json/write-json.ts";
import type { ClosedRun } from "../ports/event-log.ts";
import type { WaitingEvent } from "../ports/packed-deltas.ts";

/**
 * Makes and caches the JSON of the end of a long run over several turns of the event loop: the text stands in the
 * response, in its item, and in three events. Undefined if it is short, because it is then made where it is needed.
 */
export function makeLongEnd(events: readonly WaitingEvent[], end: ClosedRun): Promise<void> | undefined {
  return isSmall(end.outputItems) ? undefined : makeJson(events, end);
}

async function makeJson(events: readonly WaitingEvent[], { response, outputItems }: ClosedRun): Promise<void> {
  await rememberInSlices(response);
  for (const item of outputItems) await rememberInSlices(item);
  for (const event of events) if (event.template === null) await event.makeJson();
}

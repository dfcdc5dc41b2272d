import type { DialectStreamEvent, ResponseStreamEvent } from "../../../generated/responses-api/types.ts";
import { jsonOf, rememberJson } from "../../base/json/json-text.ts";

type Shown = ResponseStreamEvent | DialectStreamEvent;

/** The event with the name of its lane. Lane names need no escapes in JSON. */
export function inLane(event: Shown, lane: string | null): object {
  if (lane === null) return event;
  return rememberJson({ ...event, stream_id: lane }, `${jsonOf(event).slice(0, -1)},"stream_id":"${lane}"}`);
}

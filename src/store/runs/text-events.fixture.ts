import type { ResponseStreamEvent } from "../../../generated/responses-api/types.ts";
import type { RecordedEvent } from "../../runs/ports.ts";

/** Text delta events, for tests and benches. */
export function textEvents(first: number, count: number, text = " word"): readonly RecordedEvent[] {
  return Array.from({ length: count }, (_, index) => textEvent(first + index, text));
}

function textEvent(number: number, text: string): RecordedEvent {
  const json = JSON.stringify({
    type: "response.output_text.delta",
    sequence_number: number,
    item_id: "msg_0123456789abcdef0068f0a0000123456789abcdef00000001",
    output_index: 0,
    content_index: 0,
    delta: text,
    logprobs: [],
  });
  const event: ResponseStreamEvent = JSON.parse(json);
  return { number, event, json };
}

import { DeltaTemplate, RecordedDelta, type RecordedEvent, RecordedWhole } from "../../../runs/recorded-event.ts";

/** Text delta events in the form of earlier releases, each with its own JSON. */
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
  return RecordedWhole.fromJson(number, json);
}

/** Text delta events of a run, which share a template. */
export function deltaEvents(first: number, texts: readonly string[]): readonly RecordedEvent[] {
  return texts.map((text, index) => new RecordedDelta(first + index, TEMPLATE, text));
}

const TEMPLATE = DeltaTemplate.of({
  type: "response.output_text.delta",
  content_index: 0,
  delta: "",
  item_id: "msg_0123456789abcdef0068f0a0000123456789abcdef00000001",
  logprobs: [],
  output_index: 0,
});

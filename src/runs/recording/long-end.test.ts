import { rememberedJson } from "@antiphon/base/json/json-text.ts";
import { expect, test } from "vitest";
import { Numbering } from "../numbering.ts";
import { aResponse } from "../run.fixture.ts";
import type { UnnumberedEvent } from "../wire-event.ts";
import { makeLongEnd } from "./long-end.ts";

function endWith(text: string) {
  const part = { type: "output_text" as const, text, annotations: [], logprobs: [] };
  const item = {
    type: "message" as const,
    id: "msg_1",
    role: "assistant" as const,
    status: "completed" as const,
    content: [part],
  };
  const response = aResponse({ output: [item] });
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const events: UnnumberedEvent[] = [
    { type: "response.output_text.delta", ...place, delta: "end", logprobs: [] },
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part },
    { type: "response.completed", response },
  ];
  return { events: new Numbering(7).number(events), end: { response, outputItems: response.output } };
}

test("the JSON of a long end is the usual one, and is made with turns of the event loop in between", async () => {
  const { events, end } = endWith("é\n".repeat(2_000_000));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  await makeLongEnd(events, end);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
  for (const value of [end.response, ...end.outputItems])
    expect(rememberedJson(value) === JSON.stringify(value)).toBe(true);
  for (const event of events) expect(event.json === JSON.stringify(event.event)).toBe(true);
});

test("a short end is not made ahead", () => {
  const { events, end } = endWith("short");
  expect(makeLongEnd(events, end)).toBeUndefined();
  expect(rememberedJson(end.response)).toBeNull();
});

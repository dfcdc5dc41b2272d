import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { expect, test } from "vitest";
import { TurnItems } from "./turn-items.ts";

function itemsOf(events: readonly ModelEvent[]): readonly object[] {
  const items = new TurnItems();
  for (const event of events) items.add(event);
  return items.take();
}

test("reasoning of two items stays two items, each with what only its model server can read", () => {
  expect(
    itemsOf([
      { type: "reasoning_sealed", sealedText: "first" },
      { type: "message_finished" },
      { type: "reasoning_summary_delta", text: "Hm." },
      { type: "reasoning_sealed", sealedText: "second" },
      { type: "message_finished" },
      { type: "reasoning_delta", text: "So." },
      { type: "text_delta", text: "Yes." },
    ]),
  ).toMatchObject([
    { type: "reasoning", summary: [], encrypted_content: "first" },
    { type: "reasoning", summary: [{ text: "Hm." }], encrypted_content: "second" },
    { type: "reasoning", summary: [], content: [{ text: "So." }] },
    { type: "message", content: [{ text: "Yes." }] },
  ]);
});

import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { expect } from "vitest";
import { eventsOf, type ReadStream, responseOf } from "./read-stream.ts";

/** Checks what holds for the stream of every foreground run. */
export function checkStreamLaws(stream: ReadStream): void {
  const { events } = stream;
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["response.created", "response.in_progress"]);
  expect(events.filter(({ type }) => TERMINAL.has(type))).toEqual([events.at(-1)]);
  expect(events.filter((event) => "error" in event).map(({ type }) => type)).toEqual(
    eventsOf(stream, "error").map(({ type }) => type),
  );
  for (const event of events.slice(0, 2)) {
    expect(responseOf(event)).toMatchObject({
      status: "in_progress",
      output: [],
      usage: null,
      completed_at: null,
      service_tier: "auto",
    });
  }
  for (const event of events) if ("response" in event) expect(event.response).not.toHaveProperty("billing");
  checkItems(stream);
  checkTexts(stream);
}

const TERMINAL: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** Items are added one after the other, end with the same type and ids, and equal the final output. */
function checkItems(stream: ReadStream): void {
  const added = eventsOf(stream, "response.output_item.added");
  const done = eventsOf(stream, "response.output_item.done");
  expect(added.map((event) => event.output_index)).toEqual(added.map((_, index) => index));
  expect(done.map(({ item }) => identity(item))).toEqual(added.map(({ item }) => identity(item)));
  expect(done.map(({ item }) => item)).toEqual(stream.final.output);
  expect(new Set(added.map(({ item }) => item.id)).size).toBe(added.length);
  const ids = added.map(({ item }) => item.id);
  for (const event of stream.events) {
    if ("item_id" in event && "output_index" in event) expect(event.item_id).toBe(ids[event.output_index]);
  }
}

function identity(item: { readonly id?: string | undefined; readonly type: string }): unknown {
  return { id: item.id, type: item.type, callId: "call_id" in item ? item.call_id : null };
}

/** The joined deltas of a part equal the text of its done event; a new part is empty. */
function checkTexts({ events }: ReadStream): void {
  const joined = new Map<string, string>();
  for (const event of events) {
    const whole = wholeText(event);
    if ("delta" in event && typeof event.delta === "string") {
      joined.set(placeOf(event), (joined.get(placeOf(event)) ?? "") + event.delta);
    } else if (whole !== null) {
      expect(joined.get(placeOf(event)) ?? "", event.type).toBe(whole);
    }
  }
}

function placeOf(event: object): string {
  const { type = "", item_id = "", content_index = "", summary_index = "" }: Record<string, unknown> = { ...event };
  return [String(type).replace(/\.(delta|done)$/, ""), item_id, content_index, summary_index].join(" ");
}

function wholeText(event: ResponseStreamEvent): string | null {
  switch (event.type) {
    case "response.output_text.done":
    case "response.reasoning_text.done":
    case "response.reasoning_summary_text.done":
      return event.text;
    case "response.refusal.done":
      return event.refusal;
    case "response.function_call_arguments.done":
      return event.arguments;
    case "response.custom_tool_call_input.done":
      return event.input;
    default:
      return null;
  }
}

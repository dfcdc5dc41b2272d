import type { SampleEvent } from "./sample-events.fixture.ts";
import { SAMPLE_STREAMS } from "./sample-streams.fixture.ts";

const LISTED = SAMPLE_STREAMS["MCP tools that are listed and called"] ?? [];
const PLACES = [0, 1, 2];

/** An event about the list of tools at an output index, named without `response.`. */
export function ofList(name: string, place: number): SampleEvent {
  const event = LISTED.find(({ type }) => type === `response.${name}`) ?? { type: "" };
  const id = `mcp_${place}`;
  const about = "item_id" in event ? { item_id: id } : { item: { ...Object(event["item"]), id } };
  return { ...event, output_index: place, ...about };
}

/** The events of three lists of MCP tools that are open at the same time, and of the message after them. */
export const THREE_LISTS = {
  begun: PLACES.flatMap((place) => [ofList("output_item.added", place), ofList("mcp_list_tools.in_progress", place)]),
  completed: PLACES.map((place) => ofList("mcp_list_tools.completed", place)),
  done: PLACES.map((place) => ofList("output_item.done", place)),
  message: (SAMPLE_STREAMS["a text"] ?? []).slice(2, -1).map((event): SampleEvent => ({ ...event, output_index: 3 })),
};

/** A stream with these events. Its last snapshot holds the first `items` of the three lists and the message. */
export function streamOfLists(inner: readonly SampleEvent[], items: number): SampleEvent[] {
  const output = [...THREE_LISTS.done, ...THREE_LISTS.message.slice(-1)].map(({ item }) => item).slice(0, items);
  const response = { ...Object(LISTED.at(-1)?.["response"]), output };
  return [...LISTED.slice(0, 2), ...inner, { type: "response.completed", response }].map((event, index) => ({
    ...event,
    sequence_number: index,
  }));
}

import { readOwnJson } from "./json/read-json.ts";

/**
 * Events as they are sent: each text contains the server-sent frames of one or more complete events, in order.
 * Iterating parses the events.
 */
export class EventFrames<Event extends object> implements AsyncIterable<Event> {
  readonly texts: AsyncIterable<string>;

  constructor(texts: AsyncIterable<string>) {
    this.texts = texts;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void> {
    for await (const text of this.texts) yield* eventsIn<Event>(text);
  }
}

const DATA = "\ndata: ";
/** The text after the JSON of an event. */
export const FRAME_END = "\n\n";

/**
 * The text before the JSON of an event of this type. With an id, readers can name it as their last event. The type
 * comes first, because some readers expect it in the first line.
 */
export function frameStart(type: string, id: number | null = null): string {
  return id === null ? `event: ${type}${DATA}` : `event: ${type}\nid: ${id}${DATA}`;
}

/** `json` has no line break. */
export function frameOf(type: string, json: string, id: number | null = null): string {
  return `${frameStart(type, id)}${json}${FRAME_END}`;
}

/** The events of a text of frames. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the type of its events.
export function eventsIn<Event extends object>(text: string): readonly Event[] {
  return text
    .split(FRAME_END)
    .slice(0, -1)
    .map((frame) => readOwnJson<Event>(jsonIn(frame)));
}

/** The last event of a text of frames. */
export function lastEventIn(text: string): object {
  return readOwnJson<object>(jsonIn(text.slice(text.lastIndexOf(DATA), -FRAME_END.length)));
}

function jsonIn(frame: string): string {
  return frame.slice(frame.indexOf(DATA) + DATA.length);
}

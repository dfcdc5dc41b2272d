import { readOwnJson } from "./json/read-json.ts";

/**
 * Events as the text in which they are sent: each text has the server-sent frames of one or more events, whole and in
 * order. Iterating parses the events out of it.
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
/** What follows the JSON of an event. */
export const FRAME_END = "\n\n";

/** What precedes the JSON of an event of this type. */
export function frameStart(type: string): string {
  return `event: ${type}${DATA}`;
}

/** The line before the frame of an event that readers can name as the last one that they have. */
export function idLine(number: number): string {
  return `id: ${number}\n`;
}

/** `json` has no line break. */
export function frameOf(type: string, json: string): string {
  return `${frameStart(type)}${json}${FRAME_END}`;
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

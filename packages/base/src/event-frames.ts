import { readOwnJson } from "./json/read-json.ts";

/**
 * Events as they are sent: each text contains the server-sent frames of one or more complete events, in order.
 * Iterating parses the events.
 */
export class EventFrames<Event extends object> implements AsyncIterable<Event> {
  readonly texts: AsyncIterable<string>;
  /** How the frames are written; null for those of the Responses API. */
  readonly form: FrameForm | null;

  constructor(texts: AsyncIterable<string>, form: FrameForm | null = null) {
    this.texts = texts;
    this.form = form;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void> {
    for await (const text of this.texts) yield* this.eventsIn(text);
  }

  /** The events of one of the texts. */
  eventsIn(text: string): readonly Event[] {
    return eventsIn<Event>(text, this.form?.end ?? null);
  }
}

/** The frames of an interface whose streams end in a way of their own. */
export interface FrameForm {
  /** The data of a last frame that is no event; null if there is none. */
  readonly end: string | null;
  /** The last frame of a stream that fails, from the body of its error. */
  readonly errorFrame: (body: object) => string;
  /** Sent in silence instead of a comment. */
  readonly keepAlive?: string;
}

const DATA_FIRST = "data: ";
const DATA = `\n${DATA_FIRST}`;
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

/** The events of a text of frames, without the frame that has this end as its data. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the type of its events.
function eventsIn<Event extends object>(text: string, end: string | null): readonly Event[] {
  return text
    .split(FRAME_END)
    .slice(0, -1)
    .map(jsonIn)
    .filter((json) => json !== end)
    .map((json) => readOwnJson<Event>(json));
}

/** The frame of an event without a name. `json` has no line break. */
export function dataFrame(json: string): string {
  return `${DATA_FIRST}${json}${FRAME_END}`;
}

/** The last event of a text of frames with names. */
export function lastEventIn(text: string): object {
  return readOwnJson<object>(jsonIn(text.slice(text.lastIndexOf(DATA), -FRAME_END.length)));
}

/** The data of a frame, which begins with it or with the event's name. */
function jsonIn(frame: string): string {
  if (frame.startsWith(DATA_FIRST)) return frame.slice(DATA_FIRST.length);
  return frame.slice(frame.indexOf(DATA) + DATA.length);
}

import type { DialectStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { validateDialectStreamEvent } from "@antiphon/contracts/responses-api/validators.js";
import { expect } from "vitest";
import { streamedData } from "../kit/event-stream.ts";

export type EventOf<Type extends DialectStreamEvent["type"]> = Extract<DialectStreamEvent, { type: Type }>;

/** A stream in the extension dialect, read while the test continues. */
export interface Heard {
  /** The events so far. */
  readonly events: readonly DialectStreamEvent[];
  /** Waits for the first event of a type. The test's time limit ends a wait that never succeeds. */
  readonly first: <Type extends DialectStreamEvent["type"]>(type: Type) => Promise<EventOf<Type>>;
  /** All events, once the stream has ended. */
  readonly whole: Promise<readonly DialectStreamEvent[]>;
}

/** Reads a stream. Checks each event against the extension dialect, and that the numbers have no gaps. */
export function hear(reply: Response): Heard {
  const events: DialectStreamEvent[] = [];
  let wake = Promise.withResolvers<void>();
  const read = async (): Promise<readonly DialectStreamEvent[]> => {
    if (reply.status !== 200) throw new Error(`${reply.status}: ${await reply.text()}`);
    for await (const data of streamedData(reply)) {
      events.push(eventOf(data));
      wake.resolve();
      wake = Promise.withResolvers();
    }
    const first = events[0]?.sequence_number ?? 0;
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => first + index));
    return events;
  };
  const whole = read();
  whole.catch(() => wake.resolve());
  const first: Heard["first"] = async (type) => {
    for (;;) {
      const found = eventsOf(events, type)[0];
      if (found !== undefined) return found;
      await Promise.race([wake.promise, whole.then(() => Promise.reject(new Error(`the stream has no ${type}`)))]);
    }
  };
  return { events, first, whole };
}

function eventOf(json: string): DialectStreamEvent {
  const event: unknown = JSON.parse(json);
  if (!validateDialectStreamEvent(event)) throw new Error(`not an event of the dialect: ${json}`);
  return event;
}

export function eventsOf<Type extends DialectStreamEvent["type"]>(
  events: readonly DialectStreamEvent[],
  type: Type,
): readonly EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

/** The recording of the joined deltas. */
export function soundOf(events: readonly DialectStreamEvent[]): Buffer {
  const deltas = eventsOf(events, "response.output_audio.delta").map(({ delta }) => delta);
  const sound = Buffer.concat(deltas.map((delta) => Buffer.from(delta, "base64")));
  expect(Buffer.from(deltas.join(""), "base64")).toEqual(sound);
  return sound;
}

export function wordsOf(events: readonly DialectStreamEvent[]): string {
  return eventsOf(events, "response.audio.transcript.delta")
    .map(({ delta }) => delta)
    .join("");
}

export function textOf(events: readonly DialectStreamEvent[]): string {
  return eventsOf(events, "response.output_text.delta")
    .map(({ delta }) => delta)
    .join("");
}

/** Samples of 16 bit. */
export function samplesOf(bytes: Buffer): Int16Array {
  return Int16Array.from({ length: Math.floor(bytes.length / 2) }, (_, index) => bytes.readInt16LE(index * 2));
}

/** Loudness: 0 is silence, 1 the maximum. */
export function loudness(samples: Int16Array): number {
  const squares = samples.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0);
  return Math.sqrt(squares / samples.length);
}

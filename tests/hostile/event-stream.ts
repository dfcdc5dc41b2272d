import { expect } from "vitest";
import { z } from "zod";

const Event = z.looseObject({ type: z.string(), sequence_number: z.number().int() });

export type StreamEvent = z.infer<typeof Event>;

const TERMINAL = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** The events of an SSE text, each with checked framing. An incomplete last event is left out. */
export function readEvents(text: string): readonly StreamEvent[] {
  const frames = text.split("\n\n").slice(0, -1);
  return frames
    .filter((frame) => !frame.startsWith(":"))
    .map((frame) => {
      // No regular expression reads the second line: on millions of characters it may overflow the stack.
      const [name = "", json = "", ...others] = frame.split("\n");
      expect([name.slice(0, 7), json.slice(0, 6), others]).toEqual(["event: ", "data: ", []]);
      const event = Event.parse(JSON.parse(json.slice(6)));
      expect(event.type).toBe(name.slice(7));
      return event;
    });
}

/** The events of a whole stream: numbered from 0 without gaps, with one end as the last event. */
export function readStream(text: string): readonly StreamEvent[] {
  const events = readEvents(text);
  expect(text.endsWith("\n\n"), text.slice(-300)).toBe(true);
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  expect(events.filter(({ type }) => TERMINAL.has(type))).toEqual(events.slice(-1));
  return events;
}

const Snapshot = z.looseObject({
  id: z.string(),
  status: z.string(),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  output: z.array(z.looseObject({ type: z.string(), status: z.string().optional() })),
});

export type ResponseSnapshot = z.infer<typeof Snapshot>;

export function readSnapshot(value: unknown): ResponseSnapshot {
  return Snapshot.parse(value);
}

/** The id of the stream's response. */
export function responseIdOf(text: string): string {
  const [first] = readEvents(text);
  return readSnapshot(first?.["response"]).id;
}

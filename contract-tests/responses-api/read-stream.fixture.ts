import { type Dialect, lintText } from "@antiphon/stream-grammar/index.ts";
import { createParser } from "eventsource-parser";

export interface ToldStream {
  readonly text: string;
  readonly events: readonly unknown[];
  readonly responseId: string;
}

/** Reads a stream to its end. Awaits `onEvent` before it reads on. */
export async function readStream(
  reply: Response,
  onEvent: (type: string, responseId: string) => Promise<void> = async () => undefined,
): Promise<ToldStream> {
  const events: unknown[] = [];
  const read = { text: "", responseId: "", next: 0 };
  const parser = createParser({ onEvent: ({ data }) => events.push(JSON.parse(data)) });
  for await (const piece of (reply.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())) {
    read.text += piece;
    parser.feed(piece);
    for (; read.next < events.length; read.next++) {
      const { type, response } = Object(events[read.next]);
      read.responseId ||= String(response?.id ?? "");
      await onEvent(String(type), read.responseId);
    }
  }
  return { text: read.text, events, responseId: read.responseId };
}

/** Returns the first `count` frames of a stream. */
export function firstFrames(text: string, count: number): string {
  const frames = text.split("\n\n").filter((frame) => frame.startsWith("event:"));
  return frames
    .slice(0, count)
    .map((frame) => `${frame}\n\n`)
    .join("");
}

/** Throws if order, numbers, ids or texts break the grammar. */
export function expectLegal(what: string, text: string, dialect: Dialect): void {
  const faults = lintText(text, dialect).flatMap((report) => report.faults);
  if (faults.length > 0) throw new Error(`"${what}": the stream breaks the grammar: ${JSON.stringify(faults)}`);
}

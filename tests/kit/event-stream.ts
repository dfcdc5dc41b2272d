import { createParser } from "eventsource-parser";

/** The data of the whole events in a text of Server-Sent Events. An unfinished last event is left out. */
export function dataLines(text: string): string[] {
  const found: string[] = [];
  createParser({ onEvent: ({ data }) => found.push(data) }).feed(text);
  return found;
}

/** The data of each event of a reply, as it arrives. Whoever stops reading closes the connection. */
export async function* streamedData(reply: Pick<Response, "body">): AsyncGenerator<string> {
  const found: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => found.push(data) });
  for await (const piece of textPieces(reply)) {
    parser.feed(piece);
    yield* found.splice(0);
  }
}

/** Reads whole events until one of them holds `seen`, and closes the connection. Returns what was read. */
export async function readUntil(reply: Pick<Response, "body">, seen: string): Promise<string> {
  let text = "";
  for await (const piece of textPieces(reply)) {
    text += piece;
    const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
    if (whole.includes(seen)) return whole;
  }
  throw new Error(`the stream ended without ${seen}: ${text}`);
}

/** The text of a body in the pieces in which it arrives. */
export function textPieces({ body }: Pick<Response, "body">): AsyncIterable<string> {
  return (body ?? new Blob().stream()).pipeThrough(new TextDecoderStream());
}

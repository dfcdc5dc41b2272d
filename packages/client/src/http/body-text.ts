import type { CallWatch } from "./call-watch.ts";
import { APIConnectionError } from "./errors.ts";

/**
 * How long to wait for the body to end after the last event, in milliseconds. A connection whose body has ended can be
 * reused.
 */
const CLOSE_WAIT_MS = 100;

/** Cuts text into pieces, and keeps an incomplete last piece for the next call. */
export interface TextCutter {
  readonly cut: (text: string) => readonly string[];
  /** The remaining pieces, at the end of the text. */
  readonly rest: () => readonly string[];
}

/** The complete pieces of a body, however its bytes are split. Leaving the loop closes the connection. */
export async function* readPieces(
  body: ReadableStream<Uint8Array>,
  cutter: TextCutter,
  watch: CallWatch,
): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let isOpen = true;
  try {
    while (isOpen) {
      watch.expectServer();
      const { done, value } = await reader.read();
      watch.stopExpecting();
      isOpen = !done;
      yield* done
        ? [...cutter.cut(decoder.decode()), ...cutter.rest()]
        : cutter.cut(decoder.decode(value, { stream: true }));
    }
  } finally {
    if (isOpen && !watch.signal.aborted) await closeSoon(reader, watch);
    watch.release();
  }
}

async function closeSoon(reader: ReadableStreamDefaultReader<Uint8Array>, watch: CallWatch): Promise<void> {
  const close = () => watch.end(new APIConnectionError("The stream has ended."));
  const timer = setTimeout(close, CLOSE_WAIT_MS);
  const { done } = await reader.read().catch(() => ({ done: true }));
  clearTimeout(timer);
  if (!done) close();
}

import type { CallWatch } from "./call-watch.ts";
import { APIConnectionError } from "./errors.ts";

/** A server closes the connection after its last event; one that does so soon lets it be used again. */
const CLOSE_WAIT_MS = 100;

/** Cuts text into pieces and holds back what is not whole yet. */
export interface TextCutter {
  readonly cut: (text: string) => readonly string[];
  /** What is left when nothing more comes. */
  readonly rest: () => readonly string[];
}

/** The whole pieces of a body, wherever its bytes were split. Whoever stops reading closes the connection. */
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
  const close = () => watch.end(new APIConnectionError("The stream is over."));
  const timer = setTimeout(close, CLOSE_WAIT_MS);
  const { done } = await reader.read().catch(() => ({ done: true }));
  clearTimeout(timer);
  if (!done) close();
}

import type { EventStream } from "@antiphon/contracts/responses-api/client.ts";
import { abortError, type CallWatch } from "./call-watch.ts";
import { AntiphonError, InvalidReplyError, StreamBrokenError } from "./errors.ts";
import { isRecord, numberAt, parseJson, textAt } from "./json-members.ts";
import { errorOfEvent } from "./read-error.ts";

/** The differences between the kinds of streams. */
export interface StreamKind {
  /** Types of the events that end a stream normally. */
  readonly lastTypes: readonly string[];
  /** Types of the events that are thrown as errors. */
  readonly errorTypes: readonly string[];
  /** Whether the stream ended normally when the connection ended; by default it never did. */
  readonly endsInOrder?: () => boolean;
  /** Makes the error for an event of `errorTypes`; by default an `APIError`. */
  readonly errorOf?: (event: unknown) => Error;
}

/** Events as they arrive. They can be read once. Leaving the loop, or `abort`, closes the connection. */
export class ReplyStream implements EventStream<unknown> {
  readonly #events: AsyncGenerator<unknown, void>;
  readonly #watch: CallWatch;
  #isRead = false;

  /** `texts` yields the JSON of each event, and ends with the connection. */
  constructor(
    texts: AsyncIterable<string>,
    { watch, kind, headers }: { watch: CallWatch; kind: StreamKind; headers: Headers },
  ) {
    this.#watch = watch;
    this.#events = readEvents(texts, { watch, kind, headers });
  }

  abort(reason?: unknown): void {
    this.#watch.end(abortError(reason));
  }

  [Symbol.asyncIterator](): AsyncIterator<unknown, void> {
    if (this.#isRead) throw new AntiphonError("A stream can be read only once.");
    this.#isRead = true;
    return {
      next: () => this.#events.next(),
      return: () => {
        this.abort();
        return this.#events.return();
      },
    };
  }
}

interface StreamContext {
  readonly watch: CallWatch;
  readonly kind: StreamKind;
  readonly headers: Headers;
}

async function* readEvents(
  texts: AsyncIterable<string>,
  { watch, kind, headers }: StreamContext,
): AsyncGenerator<unknown, void> {
  const requestId = headers.get("x-request-id");
  let lastSequenceNumber: number | null = null;
  try {
    for await (const text of texts) {
      watch.signal.throwIfAborted();
      const event = parseEvent(text);
      const type = textAt(event, "type");
      if (type === null ? "error" in event : kind.errorTypes.includes(type))
        throw kind.errorOf === undefined ? errorOfEvent(event, headers) : kind.errorOf(event);
      lastSequenceNumber = numberAt(event, "sequence_number") ?? lastSequenceNumber;
      yield event;
      if (type !== null && kind.lastTypes.includes(type)) return;
    }
  } catch (cause) {
    if (cause instanceof AntiphonError) throw cause;
    if (watch.signal.aborted) throw watch.signal.reason;
    throw new StreamBrokenError("The connection broke before the stream had ended.", {
      lastSequenceNumber,
      requestId,
      cause,
    });
  }
  watch.signal.throwIfAborted();
  if (kind.endsInOrder?.() === true) return;
  throw new StreamBrokenError("The stream ended without its terminal event.", { lastSequenceNumber, requestId });
}

/** Accepts any JSON object, because a newer server may send events that this client does not know. */
function parseEvent(text: string): Readonly<Record<string, unknown>> {
  const event = parseJson(text);
  if (!isRecord(event)) throw new InvalidReplyError("An event of the stream is not a JSON object.");
  return event;
}

import { AsyncLocalStorage } from "node:async_hooks";

/** A call to another server that is about to be sent. */
export interface OutgoingCall {
  readonly kind: "model" | "mcp" | "web_search" | "embeddings" | "ranks";
  readonly method: string;
  readonly url: string;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: string | readonly Uint8Array[] | null;
}

/** Records the reply. No method may throw. Bytes are copied if they are stored. */
export interface RecordedCall {
  head(status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>): void;
  data(bytes: Uint8Array): void;
  /** `error`: why the reply broke off; null if it is complete. Only the first call counts. */
  end(error: string | null): void;
}

/** Records calls to other servers for one response. */
export interface ExchangeRecorder {
  /** Null if no more calls are recorded. */
  begin(call: OutgoingCall): RecordedCall | null;
}

const RECORDERS = new AsyncLocalStorage<ExchangeRecorder>();

/** Records all calls of this work, and calls made while its result is iterated. */
export async function recordExchanges<Element>(
  recorder: ExchangeRecorder,
  work: () => Promise<AsyncIterable<Element>>,
): Promise<AsyncIterable<Element>> {
  const iterable = await RECORDERS.run(recorder, work);
  return { [Symbol.asyncIterator]: () => iteratorWithin(recorder, iterable[Symbol.asyncIterator]()) };
}

/** Runs each step of a generator in the recorder's context, whoever iterates it. */
function iteratorWithin<Element>(recorder: ExchangeRecorder, inner: AsyncIterator<Element>): AsyncIterator<Element> {
  return {
    next: () => RECORDERS.run(recorder, () => inner.next()),
    return: async () => {
      await RECORDERS.run(recorder, () => inner.return?.());
      return { done: true, value: undefined };
    },
  };
}

/** Does work whose calls are not recorded, such as calls for secrets. */
export function withoutRecording<T>(work: () => T): T {
  return RECORDERS.exit(work);
}

/** The recorder of the current calls; null if there is none. */
export function exchangeRecorder(): ExchangeRecorder | null {
  return RECORDERS.getStore() ?? null;
}

/** Starts to record a call; null if calls are not recorded here. */
export function beginExchange(call: () => OutgoingCall): RecordedCall | null {
  return exchangeRecorder()?.begin(call()) ?? null;
}

type Fields = Readonly<Record<string, string | string[] | undefined>>;

/** The callbacks of undici for one call. */
interface ReplyHandler<Controller> {
  onRequestStart?(controller: Controller, context: unknown): void;
  onResponseStart?(controller: Controller, status: number, headers: Fields, message?: string): void;
  onResponseData?(controller: Controller, bytes: Buffer): void;
  onResponseEnd?(controller: Controller, trailers: Fields): void;
  onResponseError?(controller: Controller, error: Error): void;
}

/** Forwards a handler's callbacks to the recorder as well. */
export class RecordedReply<Controller> implements ReplyHandler<Controller> {
  readonly #handler: ReplyHandler<Controller>;
  readonly #recording: RecordedCall;

  constructor(handler: ReplyHandler<Controller>, recording: RecordedCall) {
    this.#handler = handler;
    this.#recording = recording;
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(controller: Controller, status: number, headers: Fields, message?: string): void {
    if (status >= 200) this.#recording.head(status, headers);
    this.#handler.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(controller: Controller, bytes: Buffer): void {
    this.#recording.data(bytes);
    this.#handler.onResponseData?.(controller, bytes);
  }

  onResponseEnd(controller: Controller, trailers: Fields): void {
    this.#recording.end(null);
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#recording.end(error.message);
    this.#handler.onResponseError?.(controller, error);
  }
}

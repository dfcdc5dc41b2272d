import { AsyncLocalStorage } from "node:async_hooks";

/** A call to another server, as it is about to be sent. */
export interface OutgoingCall {
  readonly kind: "model" | "mcp" | "web_search";
  readonly method: string;
  readonly url: string;
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: string | readonly Uint8Array[] | null;
}

/** Told of what comes back. No method may throw. The bytes are copied, if they are kept. */
export interface RecordedCall {
  head(status: number, headers: Readonly<Record<string, string | readonly string[] | undefined>>): void;
  data(bytes: Uint8Array): void;
  /** `error`: why the reply broke off; null if it is complete. Only the first call counts. */
  end(error: string | null): void;
}

/** Keeps what other servers are asked for one response. */
export interface ExchangeRecorder {
  /** Null if no more calls are kept. */
  begin(call: OutgoingCall): RecordedCall | null;
}

const RECORDERS = new AsyncLocalStorage<ExchangeRecorder>();

/** All calls that this work makes, and those made while its result is iterated, are told to the recorder. */
export async function recordExchanges<Element>(
  recorder: ExchangeRecorder,
  work: () => Promise<AsyncIterable<Element>>,
): Promise<AsyncIterable<Element>> {
  const iterable = await RECORDERS.run(recorder, work);
  return { [Symbol.asyncIterator]: () => iteratorWithin(recorder, iterable[Symbol.asyncIterator]()) };
}

/** A generator works in the context of whoever asks it for more. */
function iteratorWithin<Element>(recorder: ExchangeRecorder, inner: AsyncIterator<Element>): AsyncIterator<Element> {
  return {
    next: () => RECORDERS.run(recorder, () => inner.next()),
    return: async () => {
      await RECORDERS.run(recorder, () => inner.return?.());
      return { done: true, value: undefined };
    },
  };
}

/** Who is told of the calls that are made now; null if nobody is. */
export function exchangeRecorder(): ExchangeRecorder | null {
  return RECORDERS.getStore() ?? null;
}

/** Begins to record a call; null if calls are not recorded here. */
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

/** Tells the recorder of what a handler is told. */
export class RecordedReply<Controller> implements ReplyHandler<Controller> {
  readonly #handler: ReplyHandler<Controller>;
  readonly #recorded: RecordedCall;

  constructor(handler: ReplyHandler<Controller>, recorded: RecordedCall) {
    this.#handler = handler;
    this.#recorded = recorded;
  }

  onRequestStart(controller: Controller, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(controller: Controller, status: number, headers: Fields, message?: string): void {
    if (status >= 200) this.#recorded.head(status, headers);
    this.#handler.onResponseStart?.(controller, status, headers, message);
  }

  onResponseData(controller: Controller, bytes: Buffer): void {
    this.#recorded.data(bytes);
    this.#handler.onResponseData?.(controller, bytes);
  }

  onResponseEnd(controller: Controller, trailers: Fields): void {
    this.#recorded.end(null);
    this.#handler.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#recorded.end(error.message);
    this.#handler.onResponseError?.(controller, error);
  }
}

import { Readable } from "node:stream";
import { type RecordedCall, RecordedReply } from "@antiphon/base/exchanges/exchange-recording.ts";
import type { Dispatcher } from "undici";
import { explainFailure } from "./ask-once.ts";
import { tooLarge } from "./read-decoded-body.ts";

type Head = Pick<Received, "status" | "headers">;
type Fields = Readonly<Record<string, string | string[] | undefined>>;

/** A reply whose head, or all of it, has arrived. */
export interface Received {
  readonly status: number;
  readonly headers: Fields;
  /** The whole body as text if it was requested; otherwise null. */
  readonly text: string | null;
  /** The body otherwise. Drain or destroy it. */
  readonly body: Readable | null;
}

export interface ReceiveOptions {
  readonly request: Dispatcher.DispatchOptions;
  /** Aborts the request and the body. */
  readonly signal: AbortSignal;
  /** Called when a connection starts to send the request. */
  readonly onSent?: (() => void) | undefined;
  /** Checks the head, and throws if the reply is refused. Returns whether to read the whole body. */
  readonly readsWhole: (head: Head) => boolean;
  /** The maximum size of a body that is read whole. */
  readonly bytesMax: number;
  /** Records the reply; null or absent if it is not stored. */
  readonly recording?: RecordedCall | null;
}

const UTF8 = new TextDecoder();
const FIRST_FINAL_STATUS = 200;
/** Created once: each error costs a stack trace. */
const LEFT = new Error("nobody reads the reply any more");

/**
 * Sends a request and resolves when the head of its reply has arrived, or all of it if it is read whole. A body that is
 * read whole needs no stream, which would cost as much as everything else. Rejects with the error of undici or of
 * `readsWhole`, or the reason of the signal.
 */
export function receiveReply(agent: Dispatcher, options: ReceiveOptions): Promise<Received> {
  const receiver = new Receiver(options);
  const recording = options.recording ?? null;
  agent.dispatch(options.request, recording === null ? receiver : new RecordedReply(receiver, recording));
  return receiver.reply;
}

class Receiver implements Dispatcher.DispatchHandler {
  readonly #options: ReceiveOptions;
  readonly #reply = Promise.withResolvers<Received>();
  readonly #pieces: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #head: Head | null = null;
  #bytes = 0;
  #body: Readable | null = null;

  constructor(options: ReceiveOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", this.#leave, { once: true });
  }

  get reply(): Promise<Received> {
    return this.#reply.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    const { signal, onSent } = this.#options;
    if (signal.aborted) controller.abort(errorOf(signal.reason));
    else onSent?.();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Fields): void {
    if (status < FIRST_FINAL_STATUS) return;
    const head = { status, headers };
    try {
      if (this.#options.readsWhole(head)) this.#head = head;
      else this.#stream(controller, head);
    } catch (error) {
      controller.abort(errorOf(error));
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#body !== null) return this.#body.push(piece) ? undefined : controller.pause();
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    const { bytesMax } = this.#options;
    if (this.#bytes > bytesMax) controller.abort(tooLarge(bytesMax));
  }

  onResponseEnd(): void {
    this.#forget();
    if (this.#body !== null) return void this.#body.push(null);
    const [first] = this.#pieces;
    const bytes = first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    if (this.#head !== null) this.#reply.resolve({ ...this.#head, text: UTF8.decode(bytes), body: null });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#forget();
    this.#reply.reject(error);
    this.#body?.destroy(error);
  }

  #stream(controller: Dispatcher.DispatchController, head: Head): void {
    this.#body = new Readable({
      read: () => controller.resume(),
      destroy: (error, callback) => {
        this.#forget();
        controller.abort(error ?? LEFT);
        callback(error);
      },
    });
    this.#body.on("error", () => {}); // Only its reader needs the error.
    this.#reply.resolve({ ...head, text: null, body: this.#body });
  }

  /** A request that still waits for a connection is abandoned when it gets one. */
  readonly #leave = (): void => {
    const { reason } = this.#options.signal;
    this.#reply.reject(reason);
    this.#controller?.abort(errorOf(reason));
  };

  #forget(): void {
    this.#options.signal.removeEventListener("abort", this.#leave);
  }
}

function errorOf(reason: unknown): Error {
  return reason instanceof Error ? reason : explainFailure(reason);
}

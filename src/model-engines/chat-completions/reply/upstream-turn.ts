import type { Dispatcher } from "undici";
import { jsonOrUndefined } from "../../../base/json/read-json.ts";
import { isRecord } from "../../../base/json/records.ts";
import { ModelError, type ModelEvent } from "../../../runs/ports.ts";
import { brokenAnswer, tooSlow } from "../errors/model-errors.ts";
import { explainTransportError } from "../errors/transport-error.ts";
import { type ErrorContext, explainRefusal } from "../errors/upstream-error.ts";
import { isList } from "../json-values.ts";
import type { ChunkReader } from "./chunk-reader.ts";
import { ChunkStream, explainStreamError, isError } from "./chunk-stream.ts";
import { EventQueue, type Flow } from "./event-queue.ts";
import { sizeOfEvent } from "./event-size.ts";

const ERROR_BODY_BYTES_MAX = 64 * 1024;
/** The body of an answer that was not streamed although a stream was asked for. */
const PLAIN_BODY_BYTES_MAX = 32 * 1024 * 1024;
/**
 * Wait for token counts and the end mark once the server said why the answer ends; some never send either and keep the
 * connection.
 */
const END_MARK_WAIT_MS = 5000;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

type Phase =
  | { readonly name: "awaiting_headers" }
  | { readonly name: "undecided" }
  | { readonly name: "streaming" }
  | {
      readonly name: "collecting";
      readonly status: number;
      readonly headers: Headers;
      readonly pieces: Buffer[];
      bytes: number;
    }
  | { readonly name: "ended" };

export interface TurnOptions {
  readonly reader: ChunkReader;
  readonly context: ErrorContext;
  readonly totalMs: number;
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/**
 * One call to the model server: undici's callbacks on one side, the batches of a turn on the other.
 * Built on `dispatch`, not `request`: a readable stream and a promise for each token would cost more than reading the
 * token.
 */
export class UpstreamTurn implements Dispatcher.DispatchHandler {
  /** Settles when the server has accepted or refused the turn. An aborted turn is accepted and empty. */
  readonly accepted: Promise<AsyncIterable<readonly ModelEvent[]>>;
  readonly #options: TurnOptions;
  readonly #stream: ChunkStream;
  readonly #queue: EventQueue<ModelEvent>;
  #accept: (batches: AsyncIterable<readonly ModelEvent[]>) => void = () => {};
  #refuse: (error: ModelError) => void = () => {};
  #phase: Phase = { name: "awaiting_headers" };
  #controller: Dispatcher.DispatchController | null = null;
  #timer: NodeJS.Timeout;
  #isWaitingForEndMark = false;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#stream = new ChunkStream(options.reader, options.context);
    const flow: Flow = {
      pause: () => this.#controller?.pause(),
      resume: () => this.#controller?.resume(),
      leave: () => this.#stop(),
    };
    this.#queue = new EventQueue(flow, sizeOfEvent);
    this.accepted = new Promise((resolve, reject) => {
      this.#accept = resolve;
      this.#refuse = reject;
    });
    this.#timer = setTimeout(this.#timeOut, options.totalMs);
    options.signal.addEventListener("abort", this.#stop, { once: true });
    if (options.signal.aborted) this.#stop();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#phase.name === "ended") controller.abort(new TurnOver());
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    controller.rawHeaders = null; // Nobody asks for them, and a stream may last.
    if (this.#phase.name !== "awaiting_headers" || status < 200) return;
    if (status !== 200) this.#phase = { name: "collecting", status, headers, pieces: [], bytes: 0 };
    else if (/^text\/event-stream/i.test(String(headers["content-type"] ?? ""))) this.#beginStream();
    else this.#phase = { name: "undecided" };
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    switch (this.#phase.name) {
      case "streaming":
        this.#readStream(bytes);
        return;
      case "undecided":
        this.#decide(controller, bytes);
        return;
      case "collecting":
        this.#collect(this.#phase, bytes);
        return;
      case "awaiting_headers":
      case "ended":
        if (bytes.length > 0) this.#hangUp(); // Nothing may follow the end mark but the end of the reply.
        return;
    }
  }

  onResponseEnd(): void {
    if (this.#phase.name === "streaming") this.#attempt(() => this.#stream.end());
    else if (this.#phase.name === "collecting") this.#readCollected(this.#phase);
    else if (this.#phase.name === "undecided") this.#fail(brokenAnswer("sent an empty answer"));
    this.#pass();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#phase.name === "ended") return;
    if (this.#phase.name === "collecting" && this.#phase.status !== 200)
      this.#readCollected(this.#phase); // The status alone says enough.
    else if (this.#phase.name === "streaming" && this.#endEarly()) return;
    else this.#fail(explainTransportError(error, this.#options.idleMs));
  }

  #beginStream(): void {
    this.#phase = { name: "streaming" };
    this.#accept(this.#queue);
  }

  /**
   * Without a media type that tells, the first character does: an object is a plain answer, markup none, anything else
   * a stream.
   */
  #decide(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    const first = bytes.toString("latin1").trimStart()[0];
    if (first === undefined) return;
    if (first === "{" || first === "[")
      this.#phase = { name: "collecting", status: 200, headers: {}, pieces: [], bytes: 0 };
    else if (first === "<") return this.#fail(brokenAnswer("sent a page in place of an answer"));
    else this.#beginStream();
    this.onResponseData(controller, bytes);
  }

  #readStream(bytes: Buffer): void {
    this.#attempt(() => this.#stream.feed(bytes));
    this.#pass();
    if (this.#isWaitingForEndMark || !this.#options.reader.hasFinishReason || this.#phase.name !== "streaming") return;
    this.#isWaitingForEndMark = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#timeOut, Math.min(END_MARK_WAIT_MS, this.#options.totalMs));
  }

  #collect(phase: Extract<Phase, { name: "collecting" }>, bytes: Buffer): void {
    phase.pieces.push(bytes);
    phase.bytes += bytes.length;
    if (phase.status !== 200 && phase.bytes >= ERROR_BODY_BYTES_MAX) this.#readCollected(phase);
    else if (phase.bytes > PLAIN_BODY_BYTES_MAX) this.#fail(brokenAnswer("sent an answer that is too large"));
  }

  #readCollected(phase: Extract<Phase, { name: "collecting" }>): void {
    const text = Buffer.concat(phase.pieces).toString(
      "utf8",
      0,
      phase.status === 200 ? PLAIN_BODY_BYTES_MAX : ERROR_BODY_BYTES_MAX,
    );
    const { context } = this.#options;
    if (phase.status !== 200)
      this.#fail(explainRefusal({ status: phase.status, headers: phase.headers, body: text }, context, Date.now()));
    else this.#attempt(() => this.#readPlain(text));
  }

  /** The server did not stream. Its one object has the shape of a chunk, with `message` for `delta`. */
  #readPlain(text: string): void {
    const { reader, context } = this.#options;
    const parsed = jsonOrUndefined(text);
    const answer = isList(parsed) ? parsed[0] : parsed;
    if (!isRecord(answer)) throw brokenAnswer("sent an answer that is no JSON object");
    if (isError(answer)) throw explainStreamError(answer, context);
    reader.read(answer);
    reader.finish();
    this.#beginStream();
    this.#queue.push(reader.take());
    this.#end();
  }

  #attempt(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#queue.push(this.#stream.take()); // What was said before the error was still said.
      this.#fail(error);
    }
  }

  /** Gives the reader what is ready. */
  #pass(): void {
    if (this.#phase.name !== "streaming") return;
    this.#queue.push(this.#stream.take());
    if (this.#stream.isDone) this.#end();
  }

  #endEarly(): boolean {
    if (!this.#stream.endEarly()) return false;
    this.#pass();
    return true;
  }

  readonly #timeOut = (): void => {
    if (this.#phase.name === "collecting" && this.#phase.status !== 200) return this.#readCollected(this.#phase);
    if (this.#phase.name === "streaming" && this.#endEarly()) {
      this.#controller?.abort(new TurnOver());
      return;
    }
    this.#fail(tooSlow(`did not finish its answer within ${this.#options.totalMs / 1000} s`));
  };

  /** The turn is over for good; the reply's own last bytes may still come, so that the connection can be used again. */
  #end(): void {
    this.#settle();
    this.#queue.end();
  }

  #fail(error: unknown): void {
    if (this.#phase.name === "ended") return;
    const isAccepted = this.#phase.name === "streaming";
    this.#settle();
    if (isAccepted) this.#queue.fail(error);
    else this.#refuse(error instanceof ModelError ? error : brokenAnswer("sent an answer that could not be read"));
    this.#hangUp();
  }

  /**
   * Not at once: undici may be reading the last bytes of a closed connection, and fails its own assertions if it is
   * stopped there.
   */
  #hangUp(): void {
    setImmediate(() => this.#controller?.abort(new TurnOver()));
  }

  /** The caller aborted or left: no event and no error, and the socket is closed at once. */
  readonly #stop = (): void => {
    if (this.#phase.name === "ended") return;
    this.#settle();
    this.#queue.end();
    this.#accept(this.#queue);
    this.#controller?.abort(new TurnOver());
  };

  #settle(): void {
    this.#phase = { name: "ended" };
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#stop);
  }
}

/** Given to undici as the reason for closing a connection; never shown to anyone. */
class TurnOver extends Error {
  override readonly name = "TurnOver";
}

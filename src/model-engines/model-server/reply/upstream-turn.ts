import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { ModelEvent, ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { Dispatcher } from "undici";
import type { SentParts } from "../connections/request-body.ts";
import { brokenAnswer, cutAnswer, tooSlow } from "../errors/model-errors.ts";
import { closedConnection, explainTransportError } from "../errors/transport-error.ts";
import { type ErrorContext, explainRefusal } from "../errors/upstream-error.ts";
import { isList, type JsonObject } from "../json-values.ts";
import { EventQueue, type Flow } from "./event-queue.ts";
import { sizeOfEvent } from "./event-size.ts";

const ERROR_BODY_BYTES_MAX = 64 * 1024;
/** Maximum size of an answer that is not streamed, although a stream was requested. */
const PLAIN_BODY_BYTES_MAX = 32 * 1024 * 1024;
/**
 * How long to wait for token counts and `[DONE]` after the finish reason. Some servers send neither and keep the
 * connection open.
 */
const END_MARK_WAIT_MS = 5000;

/** Otherwise, a busy socket would be read for tens of milliseconds without a turn of the event loop. */
const BYTES_AT_ONCE_MAX = 64 * 1024;

/** Why reading from the socket is paused: the reader of the events is behind, or other requests need their turn. */
type Holder = "reader" | "turn";

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

/**
 * Reads a reply in the form of its API. Its methods throw `ModelError` on an error in the reply; earlier events can
 * still be taken.
 */
export interface UpstreamReply {
  /** True after the end mark, or after the turn ended in another way. */
  readonly isDone: boolean;
  /** True until something other than comments and empty events has arrived. */
  readonly isEmpty: boolean;
  /** Whether the answer is complete. Token counts and the end mark may still follow. */
  readonly isComplete: boolean;
  /** Whether the server reported the tokens of the turn. */
  readonly hasUsage: boolean;
  /** The estimated tokens of the answer. */
  readonly outputTokens: number;
  feed(bytes: Buffer): void;
  /** Call at the end of the bytes. Throws `ModelError` if the answer is incomplete. */
  end(): void;
  /** Ends the turn if only its end mark is missing, and returns whether it has ended. */
  endEarly(): boolean;
  /** Reads an answer that came as one object, although a stream was requested. */
  readWhole(answer: JsonObject): void;
  /** The events since the last call, in order. The caller owns the array. */
  take(): ModelEvent[];
}

/** Estimates the usage of a turn from its body and the estimated tokens of its answer. */
export interface UsageEstimator {
  usageOf(body: SentParts, outputTokens: number, signal: AbortSignal): Promise<ModelUsage>;
}

export interface TurnOptions {
  readonly stream: UpstreamReply;
  readonly context: ErrorContext;
  /** Translates a refusal; that of OpenAI's APIs if left out. */
  readonly explain?: typeof explainRefusal;
  readonly totalMs: number;
  readonly idleMs: number;
  readonly signal: AbortSignal;
  /** Estimates the usage of a turn if the server reports none. Null if it is left to the caller. */
  readonly tokens: UsageEstimator | null;
}

/**
 * One call to the model server, from undici's callbacks to the batches of a turn. Uses `dispatch` instead of `request`,
 * because a readable stream and a promise per token would cost more than reading the token.
 */
export class UpstreamTurn implements Dispatcher.DispatchHandler {
  /**
   * Resolves to the batches when the server accepts the turn, and rejects with `ModelError` when it refuses. An aborted
   * turn resolves to no batches.
   */
  readonly acceptance: Promise<AsyncIterable<readonly ModelEvent[]>>;
  readonly #options: TurnOptions;
  readonly #stream: UpstreamReply;
  readonly #queue: EventQueue<ModelEvent>;
  #accept: (batches: AsyncIterable<readonly ModelEvent[]>) => void = () => {};
  #refuse: (error: ModelError) => void = () => {};
  #phase: Phase = { name: "awaiting_headers" };
  #isAccepted = false;
  /** Null once it is not needed, because it contains the request. */
  #askPlain: (() => void) | null;
  /** The body of the call, until the turn ends. The HTTP client keeps the same bytes. */
  #body: SentParts | null;
  #controller: Dispatcher.DispatchController | null = null;
  #timer: NodeJS.Timeout;
  #isWaitingForEndMark = false;
  #bytesAtOnce = 0;
  readonly #holds = new Set<Holder>();
  #isPassing = false;

  /**
   * `askPlain` requests the same answer without a stream, with the turn as its handler. Called at most once, if a
   * stream ends before its first chunk: some servers report errors only without a stream.
   */
  constructor(options: TurnOptions, body: SentParts, askPlain: () => void) {
    this.#options = options;
    this.#body = body;
    this.#askPlain = askPlain;
    this.#stream = options.stream;
    const flow: Flow = {
      pause: () => this.#hold("reader"),
      resume: () => this.#letGo("reader"),
      leave: () => this.#stop(),
    };
    this.#queue = new EventQueue(flow, sizeOfEvent);
    this.acceptance = new Promise((resolve, reject) => {
      this.#accept = resolve;
      this.#refuse = reject;
    });
    this.#timer = setTimeout(this.#timeOut, options.totalMs);
    options.signal.addEventListener("abort", this.#stop, { once: true });
    if (options.signal.aborted) this.#stop();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#phase.name === "ended") controller.abort(new TurnEnded());
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    controller.rawHeaders = null; // Not needed; frees memory for the length of the stream.
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
        if (bytes.length > 0) this.#disconnect(); // After [DONE], only the end of the reply may follow.
        return;
    }
  }

  onResponseEnd(): void {
    if (this.#phase.name === "collecting") this.#readCollected(this.#phase);
    else if (this.#asksPlain()) return;
    else if (this.#phase.name === "streaming") this.#readEnd();
    else if (this.#phase.name === "undecided") this.#fail(brokenAnswer("sent an empty answer"));
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#phase.name === "ended") return;
    if (this.#phase.name === "collecting" && this.#phase.status !== 200)
      this.#readCollected(this.#phase); // The status is enough to explain the refusal.
    else if (this.#phase.name === "streaming" && this.#endEarly()) return;
    else if (closedConnection(error) && this.#asksPlain()) return;
    else this.#fail(this.#explain(error));
  }

  /** Retries without a stream if this one ended empty. Returns whether it did. */
  #asksPlain(): boolean {
    const isEmpty = this.#phase.name === "undecided" || (this.#phase.name === "streaming" && this.#stream.isEmpty);
    const askPlain = this.#askPlain;
    if (!isEmpty || askPlain === null) return false;
    this.#askPlain = null;
    this.#phase = { name: "awaiting_headers" };
    this.#controller = null;
    askPlain();
    return true;
  }

  /** The error for a closed connection depends on whether an answer had begun. */
  #explain(error: Error): ModelError {
    const hasBegun = this.#phase.name !== "awaiting_headers";
    return hasBegun && closedConnection(error) ? cutAnswer(error) : explainTransportError(error, this.#options.idleMs);
  }

  #beginStream(): void {
    this.#phase = { name: "streaming" };
    this.#isAccepted = true;
    this.#accept(this.#queue);
  }

  /**
   * Decides by the first character if the content type does not: JSON is an unstreamed answer, `<` an HTML page,
   * anything else a stream.
   */
  #decide(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    const first = bytes.toString("latin1").trimStart()[0];
    if (first === undefined) return;
    if (first === "{" || first === "[")
      this.#phase = { name: "collecting", status: 200, headers: {}, pieces: [], bytes: 0 };
    else if (first === "<") return this.#fail(brokenAnswer("sent an HTML page instead of an answer"));
    else this.#beginStream();
    this.onResponseData(controller, bytes);
  }

  #readStream(bytes: Buffer): void {
    this.#leaveTurns(bytes.length);
    try {
      this.#stream.feed(bytes);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (!this.#stream.isEmpty) this.#askPlain = null;
    if (this.#stream.isDone) this.#end();
    else this.#passSoon();
    if (this.#isWaitingForEndMark || !this.#stream.isComplete || this.#phase.name !== "streaming") return;
    this.#isWaitingForEndMark = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#timeOut, Math.min(END_MARK_WAIT_MS, this.#options.totalMs));
  }

  /** Pauses after each `BYTES_AT_ONCE_MAX` until the next turn of the event loop. */
  #leaveTurns(bytes: number): void {
    this.#bytesAtOnce += bytes;
    if (this.#bytesAtOnce < BYTES_AT_ONCE_MAX || this.#holds.has("turn")) return;
    this.#hold("turn");
    setImmediate(() => {
      this.#bytesAtOnce = 0;
      this.#letGo("turn");
    });
  }

  #hold(by: Holder): void {
    if (this.#holds.size === 0) this.#controller?.pause();
    this.#holds.add(by);
  }

  #letGo(by: Holder): void {
    if (this.#holds.delete(by) && this.#holds.size === 0) this.#controller?.resume();
  }

  #readEnd(): void {
    try {
      this.#stream.end();
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#end();
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
    const { context, explain = explainRefusal } = this.#options;
    if (phase.status !== 200)
      this.#fail(explain({ status: phase.status, headers: phase.headers, body: text }, context, Date.now()));
    else this.#readPlain(text);
  }

  /** Reads an unstreamed answer, which some servers put into an array. */
  #readPlain(text: string): void {
    try {
      const json = jsonOrUndefined(text);
      const answer = isList(json) ? json[0] : json;
      if (!isRecord(answer)) throw brokenAnswer("sent an answer that is no JSON object");
      this.#stream.readWhole(answer);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#beginStream();
    this.#end();
  }

  /**
   * Passes events to the reader once all bytes of this socket read are parsed. undici reports each HTTP chunk
   * separately; together they are one batch, with one promise.
   */
  #passSoon(): void {
    if (this.#isPassing) return;
    this.#isPassing = true;
    queueMicrotask(this.#pass);
  }

  readonly #pass = (): void => {
    this.#isPassing = false;
    this.#queue.push(this.#stream.take());
  };

  #endEarly(): boolean {
    if (!this.#stream.endEarly()) return false;
    this.#end();
    return true;
  }

  readonly #timeOut = (): void => {
    if (this.#phase.name === "collecting" && this.#phase.status !== 200) return this.#readCollected(this.#phase);
    if (this.#phase.name === "streaming" && this.#endEarly()) {
      this.#controller?.abort(new TurnEnded());
      return;
    }
    this.#fail(tooSlow(`did not finish its answer within ${this.#options.totalMs / 1000} s`));
  };

  /** Ends the turn normally. The rest of the reply is still read, so that the connection can be reused. */
  #end(): void {
    const body = this.#body;
    const { tokens } = this.#options;
    this.#settle();
    if (body !== null && tokens !== null && !this.#stream.hasUsage) return void this.#endUncounted(body, tokens);
    this.#pass();
    this.#queue.end();
  }

  /** Ends a turn without reported usage. The answer is complete and does not wait for the estimate; its end does. */
  async #endUncounted(body: SentParts, tokens: UsageEstimator): Promise<void> {
    const { signal } = this.#options;
    const events = this.#stream.take();
    const lastEvents = events.splice(-1);
    this.#queue.push(events);
    const usage = await tokens.usageOf(body, this.#stream.outputTokens, signal).catch(() => null);
    this.#queue.push(usage === null ? lastEvents : [{ type: "usage", usage }, ...lastEvents]);
    this.#queue.end();
  }

  #fail(error: unknown): void {
    if (this.#phase.name === "ended") return;
    this.#settle();
    this.#pass(); // Events before the error are still valid.
    if (this.#isAccepted) this.#queue.fail(error);
    else this.#refuse(error instanceof ModelError ? error : brokenAnswer("sent an answer that could not be read"));
    this.#disconnect();
  }

  /**
   * Closes the connection, but not at once: undici may be reading the last bytes of a closed connection, where an abort
   * would violate its assertions.
   */
  #disconnect(): void {
    setImmediate(() => this.#controller?.abort(new TurnEnded()));
  }

  /** The caller aborted or stopped reading: ends the turn without event or error, and closes the socket at once. */
  readonly #stop = (): void => {
    if (this.#phase.name === "ended") return;
    this.#settle();
    this.#queue.end();
    this.#accept(this.#queue);
    this.#controller?.abort(new TurnEnded());
  };

  #settle(): void {
    this.#phase = { name: "ended" };
    this.#askPlain = null;
    this.#body = null;
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#stop);
  }
}

/** The reason given to undici for closing a connection; never shown. */
class TurnEnded extends Error {
  override readonly name = "TurnEnded";
}

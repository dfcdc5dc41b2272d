import { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import type { ByteBudget } from "@antiphon/base/limits/byte-budget.ts";
import { UnfinishedStream } from "@antiphon/base/streams/unfinished-stream.ts";
import type { Principal } from "../access/authenticate.ts";
import type { Caller } from "../access/caller.ts";
import type { CreateContext } from "../create/begin-response.ts";
import { internalError, noRoomForBody, shuttingDown } from "../errors/server-errors.ts";
import { storeError } from "../errors/store-errors.ts";
import {
  connectionLimitReached,
  responseCancelled,
  responseNotMadeHere,
  streamLimitReached,
} from "../errors/websocket-errors.ts";
import { BoundedMessageQueue } from "./bounded-message-queue.ts";
import { type CharacterBudget, ConnectionMemory } from "./connection-memory.ts";
import { errorFrame } from "./error-frame.ts";
import { LANES_MAX, type Lane, Lanes } from "./lanes.ts";
import { type Frame, faultFrame, readFrame, requestIn } from "./read-frame.ts";
import {
  type CreateRequestFrame,
  noteRefusal,
  type ServedFrame,
  serveFrame,
  type WebSocketConnection,
} from "./serve-frame.ts";
import { Steering, type SteerRequest } from "./steering.ts";

/** The limits of time and memory of connections. */
export interface ConnectionLimits {
  readonly lifetimeMs: number;
  /** The characters that all connections together may remember. */
  readonly budget: CharacterBudget;
  /** The memory budget of all incoming messages, which waiting frames use too. */
  readonly incoming: ByteBudget;
}

/** The client of a connection. */
export interface ConnectedCaller extends Caller {
  /** Aborts when the server begins to stop. */
  readonly draining: AbortSignal;
  /** Checks the key again. Throws an `ApiError` if it was revoked since. */
  authenticate(): Promise<Principal>;
}

/**
 * How long responses in progress may continue after the lifetime of their connection, in milliseconds. Never longer
 * than the lifetime itself.
 */
const GRACE_MS = 5 * 60_000;

/**
 * Serves one connection of WebSocket mode and yields its replies. Ends when the client leaves, the server stops, or the
 * lifetime of the connection is over.
 */
export function serveConnection(
  context: CreateContext,
  limits: ConnectionLimits,
  messages: AsyncIterator<unknown>,
  caller: ConnectedCaller,
): AsyncGenerator<object> {
  return new ConnectionServer(context, limits, messages, caller).run();
}

/** A frame that waits to be served. */
interface WaitingFrame extends CreateRequestFrame {
  /** The size of the message. */
  readonly bytes: number;
}

class ConnectionServer {
  readonly #limits: ConnectionLimits;
  readonly #messages: AsyncIterator<unknown>;
  readonly #caller: ConnectedCaller;
  readonly #lanes: Lanes<WaitingFrame>;
  readonly #queue = new BoundedMessageQueue();
  readonly #lifetimeOver = new AbortController();
  readonly #connection: WebSocketConnection;
  readonly #serving = new Set<Promise<void>>();
  #wakeReading: () => void = () => {};
  /** Set once no further frame is served; waiting frames get `fault` as their reply. */
  #ending: { readonly fault: ApiError; isTold: boolean } | null = null;

  constructor(
    context: CreateContext,
    limits: ConnectionLimits,
    messages: AsyncIterator<unknown>,
    caller: ConnectedCaller,
  ) {
    this.#limits = limits;
    this.#lanes = new Lanes(limits.incoming.open());
    this.#messages = messages;
    this.#caller = caller;
    this.#connection = {
      context,
      caller: { ...caller, signal: AbortSignal.any([caller.signal, this.#lifetimeOver.signal]) },
      authenticate: () => caller.authenticate(),
      memory: new ConnectionMemory(limits.budget),
      running: new Map(),
      serving: new Map(),
      queue: this.#queue,
      steering: new Steering(this.#queue, limits.incoming.open()),
    };
  }

  async *run(): AsyncGenerator<object> {
    const { signal, draining } = this.#caller;
    const leave = (): void => {
      this.#lanes.clear();
      // With an `ApiError` the server ends the connection, and responses still get their last event.
      if (!(signal.reason instanceof ApiError)) this.#queue.close();
      this.#wakeReading();
    };
    const drain = (): void => this.#end(shuttingDown(), true); // An idle client gets only the close code.
    const stopClock = this.#limitTime();
    signal.addEventListener("abort", leave, { once: true });
    draining.addEventListener("abort", drain, { once: true });
    if (signal.aborted) leave();
    if (draining.aborted) drain();
    void this.#work();
    try {
      yield* this.#queue.messages();
    } finally {
      stopClock();
      signal.removeEventListener("abort", leave);
      draining.removeEventListener("abort", drain);
      this.#connection.memory.close();
      this.#connection.steering.close();
    }
  }

  #limitTime(): () => void {
    const { lifetimeMs } = this.#limits;
    const fault = connectionLimitReached(lifetimeMs);
    const limit = setTimeout(() => this.#end(fault), lifetimeMs);
    const last = setTimeout(() => this.#lifetimeOver.abort(fault), lifetimeMs + Math.min(lifetimeMs, GRACE_MS));
    return () => {
      clearTimeout(limit);
      clearTimeout(last);
    };
  }

  /** Serves no further frames. Responses in progress continue, and waiting frames are refused with `fault`. */
  #end(fault: ApiError, isTold = false): void {
    this.#ending ??= { fault, isTold };
    this.#wakeReading();
    void this.#messages.return?.();
  }

  /** Never rejects; the reader of the queue gets its faults. */
  async #work(): Promise<void> {
    try {
      await this.#readFrames();
      while (this.#serving.size > 0) await Promise.all(this.#serving);
      if (this.#ending?.isTold === false) await this.#queue.put(errorFrame(this.#ending.fault, null));
      this.#queue.end();
    } catch (error) {
      this.#lanes.clear();
      this.#lifetimeOver.abort(error);
      this.#queue.fail(error);
    }
  }

  async #readFrames(): Promise<void> {
    for (let frame = await this.#nextFrame(); frame !== null; frame = await this.#nextFrame()) {
      if (frame.content.type === "steer") {
        await this.#steer(frame.content.steerRequest);
        continue;
      }
      const outcome = this.#accept(frame, frame.content);
      if (outcome === null) continue;
      if (outcome instanceof ApiError || !this.#lanes.add(outcome)) {
        await this.#refuse(frame, outcome instanceof ApiError ? outcome : noRoomForBody());
        continue;
      }
      this.#serveReady();
      while (this.#lanes.isFull && this.#ending === null && !this.#caller.signal.aborted) {
        await new Promise<void>((resolve) => {
          this.#wakeReading = resolve;
        });
      }
    }
  }

  /** Null at the end of the stream. */
  async #nextFrame(): Promise<Frame | null> {
    try {
      const { value, done } = await this.#messages.next();
      return done === true ? null : readFrame(value);
    } catch (error) {
      if (error instanceof ApiError && error.status === 400) return faultFrame(error, null);
      noteRefusal(this.#connection, null, error);
      throw error; // After a message that is not text the connection cannot be trusted.
    }
  }

  /** Returns a frame that must wait to be served, an error to reply with at once, or null if the frame is done. */
  #accept(
    { lane, bytes, previousId }: Frame,
    content: Exclude<Frame["content"], { type: "steer" }>,
  ): WaitingFrame | ApiError | null {
    switch (content.type) {
      case "fault":
        return content.fault;
      case "cancel":
        return cancelRun(this.#connection.serving, lane, content.responseId);
      case "create":
        if (!this.#lanes.open(lane)) return streamLimitReached(LANES_MAX);
        return { lane, bytes, previousId, createFrame: content.createFrame };
      default:
        return assertNever(content);
    }
  }

  #steer(request: SteerRequest): Promise<void> {
    const { serving, steering } = this.#connection;
    return steering.hear(request, servedAs(serving, request.responseId)?.madeResponse ?? null);
  }

  async #refuse(frame: Frame, fault: ApiError): Promise<void> {
    const { lane, previousId } = frame;
    const { log, requestId } = this.#caller;
    const request = requestIn(frame);
    if (request !== undefined) noteRefusal(this.#connection, request, fault);
    if (previousId !== null) this.#connection.memory.forget(previousId);
    log.info({ requestId, lane, status: fault.status, code: fault.code }, "WebSocket frame refused");
    await this.#queue.put(errorFrame(fault, lane));
  }

  #serveReady(): void {
    for (const frame of this.#lanes.takeReady()) {
      const serving = this.#serveAll(frame).finally(() => {
        this.#serving.delete(serving);
        this.#lanes.release(frame.lane);
        this.#serveReady();
      });
      this.#serving.add(serving);
    }
    if (!this.#lanes.isFull) this.#wakeReading();
  }

  /** Serves a frame, then those that steering makes of it. Never rejects. */
  async #serveAll(frame: CreateRequestFrame): Promise<void> {
    for (let next: CreateRequestFrame | null = frame; next !== null; ) next = await this.#serve(next);
  }

  /** Never rejects. Returns the frame that follows by itself. */
  async #serve(frame: CreateRequestFrame): Promise<CreateRequestFrame | null> {
    const { log, requestId, signal } = this.#caller;
    const startedAt = performance.now();
    const fields = { operationId: "createResponse", requestId, lane: frame.lane };
    try {
      if (this.#ending !== null) throw this.#markTold(this.#ending, frame);
      const { response, successor } = await serveFrame(this.#connection, frame);
      const ms = Math.round(performance.now() - startedAt);
      log.info({ ...fields, responseId: response.id, status: response.status, ms }, "WebSocket turn ended");
      return successor;
    } catch (error) {
      if (error instanceof UnfinishedStream) return this.#breakOff(error);
      const fault = this.#faultOf(error, frame.lane);
      log.info({ ...fields, status: fault.status, code: fault.code }, "WebSocket turn refused");
      if (!signal.aborted) await this.#tellRefusal(frame, fault);
      return null;
    }
  }

  /** Ends the connection without a reply, so that its client resumes the response. Stored responses continue. */
  #breakOff(error: UnfinishedStream): null {
    this.#lanes.clear();
    this.#queue.fail(error);
    return null;
  }

  /** A client that steered gets its input back. */
  async #tellRefusal({ lane, steers = [] }: CreateRequestFrame, fault: ApiError): Promise<void> {
    if (steers.length === 0) return await this.#queue.put(errorFrame(fault, lane));
    const target = { lane, lastNumber: 0 };
    await this.#connection.steering.giveBack(steers, target, "successor_creation_failed", fault.message);
  }

  #markTold(ending: { readonly fault: ApiError; isTold: boolean }, { createFrame }: CreateRequestFrame): ApiError {
    ending.isTold = true;
    noteRefusal(this.#connection, createFrame.request, ending.fault);
    return ending.fault;
  }

  #faultOf(error: unknown, lane: Lane): ApiError {
    if (error instanceof ApiError) return error;
    const refusal = storeError(error);
    if (refusal !== null) return refusal;
    const { log, requestId, signal } = this.#caller;
    if (!signal.aborted) log.error({ err: error, requestId, lane }, "internal fault of a WebSocket turn");
    return internalError(requestId);
  }
}

/**
 * Cancels a response of this connection. Its last event is the reply. Returns an error if there is no such response.
 */
function cancelRun(serving: ReadonlyMap<Lane, ServedFrame>, lane: Lane, responseId: string | null): ApiError | null {
  const servedFrame = responseId === null ? servedIn(serving, lane) : servedAs(serving, responseId);
  if (servedFrame === null) return responseNotMadeHere(responseId);
  servedFrame.cancel.abort(responseCancelled());
  return null;
}

function servedAs(serving: ReadonlyMap<Lane, ServedFrame>, responseId: string): ServedFrame | null {
  for (const servedFrame of serving.values())
    if (servedFrame.madeResponse?.responseId === responseId) return servedFrame;
  return null;
}

/** The frame being served in `lane`. Without a lane it may also be the only frame being served. */
function servedIn(serving: ReadonlyMap<Lane, ServedFrame>, lane: Lane): ServedFrame | null {
  const [only] = serving.size === 1 && lane === null ? serving.values() : [];
  return serving.get(lane) ?? only ?? null;
}

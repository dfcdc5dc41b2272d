import type { ApiError } from "@antiphon/base/api-error.ts";
import { type FrameForm, frameOf, lastEventIn } from "@antiphon/base/event-frames.ts";
import { jsonOf } from "@antiphon/base/json/json-text.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { UnfinishedStream } from "@antiphon/base/streams/unfinished-stream.ts";
import { discardBody } from "../body/body-chunks.ts";
import { type Exchange, writeHead } from "../exchange/exchange.ts";
import { type Faults, namedFault } from "../faults.ts";
import type { EventsReply, LinesReply, ReplyHeaders, ReplyStart, StreamEvent } from "../handler.ts";
import { FrameWriter } from "./frame-writer.ts";

/** A stream to write. SSE and NDJSON differ in these members only. */
interface OutgoingStream<T> {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly values: AsyncIterable<T>;
  readonly frameOf: (value: T) => string;
  /** Sent after a silence; null if the format has no such frame. */
  readonly keepAlive: { readonly frame: string; readonly everyMs: number } | null;
  /** The values to send when the source fails. */
  readonly onError: (error: ApiError, last: T | null) => readonly T[];
}

/** How long the headers wait for the first value, in milliseconds. A source that cannot start usually fails at once. */
const HEAD_WAIT_MS = 100;

/**
 * Writes values as they arrive. The headers wait up to `HEAD_WAIT_MS` for the first value, so that a source that fails
 * before it gets an ordinary error reply. A later fault becomes the last value, and an `UnfinishedStream` cuts the
 * connection. When the client leaves, `return` of the source is called and nothing more is pulled.
 */
export async function writeStream<T>(
  exchange: Exchange,
  stream: OutgoingStream<T>,
  faults: Pick<Faults, "internalError" | "ofError">,
): Promise<void> {
  const { response } = exchange;
  exchange.watch?.streams();
  const out = new FrameWriter(
    response,
    () => writeHead(exchange, stream.status, stream.headers),
    exchange.openUnread(),
  );
  const source = stream.values[Symbol.asyncIterator]();
  const departure = Promise.withResolvers<void>();
  const leave = (): void => {
    cancelSource(source, exchange.log, exchange.requestId);
    departure.resolve();
  };
  if (out.isClosed) return leave();
  if (exchange.request.method === "HEAD") {
    out.finish();
    return leave();
  }
  response.once("close", leave);
  const stopKeepAlive = keepAlive(out, stream.keepAlive);
  const headTimer = setTimeout(() => openHead(out, exchange), HEAD_WAIT_MS);
  try {
    await Promise.race([pump({ exchange, source, stream, out, faults }), departure.promise]);
  } finally {
    clearTimeout(headTimer);
    stopKeepAlive();
    response.off("close", leave);
  }
  if (!out.isClosed && !(await discardBody(exchange.request))) exchange.request.destroy();
}

function openHead(out: FrameWriter, { log, requestId }: Exchange): void {
  try {
    out.open();
  } catch (error) {
    // Writing the first value will throw it again.
    log.debug({ err: error, requestId }, "headers of a stream could not be written");
  }
}

interface Pumping<T> {
  readonly exchange: Exchange;
  readonly source: AsyncIterator<T>;
  readonly stream: OutgoingStream<T>;
  readonly out: FrameWriter;
  readonly faults: Pick<Faults, "internalError" | "ofError">;
}

async function pump<T>({ exchange, source, stream, out, faults }: Pumping<T>): Promise<void> {
  let last: T | null = null;
  try {
    for await (const value of { [Symbol.asyncIterator]: () => source }) {
      const room = out.add(stream.frameOf(value));
      last = value;
      if (room !== undefined) await room;
      if (out.isClosed) return;
    }
  } catch (error) {
    if (out.isClosed) return;
    if (!out.isOpen) throw error;
    if (error instanceof UnfinishedStream) return cutUnfinished(exchange, error, faults);
    for (const value of stream.onError(streamFault(exchange, error, faults), last))
      await out.add(stream.frameOf(value));
  }
  out.finish();
}

function cutUnfinished(exchange: Exchange, error: UnfinishedStream, faults: Pick<Faults, "ofError">): void {
  logUnfinished(exchange, error, faults);
  exchange.cut("the stream broke");
}

/** Logs why a stream is cut: as an error, unless the interface names the cause, such as a database that is down. */
export function logUnfinished(
  { log, requestId }: Pick<Exchange, "log" | "requestId">,
  error: UnfinishedStream,
  faults: Pick<Faults, "ofError">,
): void {
  const level = namedFault(error, faults) === null ? "error" : "warn";
  log[level](
    { err: error, requestId, ...error.logFields },
    "cutting a stream that cannot go on; its client can resume it",
  );
}

function streamFault(exchange: Exchange, error: unknown, faults: Pick<Faults, "internalError" | "ofError">): ApiError {
  const match = namedFault(error, faults);
  if (match !== null) return match;
  exchange.log.error({ err: error, requestId: exchange.requestId }, "stream failed");
  return faults.internalError(exchange.requestId);
}

/** Checks for silence with one timer of its own, so that a write sets no timer. */
function keepAlive(out: FrameWriter, options: OutgoingStream<never>["keepAlive"]): () => void {
  if (options === null) return () => {};
  const { frame, everyMs } = options;
  const check = (): void => {
    const restMs = everyMs - out.silentMs;
    if (restMs <= 0 && !out.isBlocked) void out.add(frame);
    timer = setTimeout(check, restMs <= 0 ? everyMs : restMs);
  };
  let timer = setTimeout(check, everyMs);
  return () => clearTimeout(timer);
}

/** Calls `return` of a source whose client has left. Does not wait for it; an error is only logged. */
export function cancelSource(source: AsyncIterator<unknown>, log: Logger, requestId: string): void {
  const end = source.return?.() ?? Promise.resolve();
  end.catch((error: unknown) => log.debug({ err: error, requestId }, "source failed after its client had left"));
}

const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no", // Otherwise reverse proxies would buffer the events.
};

const KEEP_ALIVE = ": keepalive\n\n";

/** A frame after this silence, a comment by default; none if it is 0. */
function keepAliveEvery(everyMs: number, frame = KEEP_ALIVE): OutgoingStream<never>["keepAlive"] {
  return everyMs === 0 ? null : { frame, everyMs };
}

function sseFrame(event: StreamEvent): string {
  return frameOf(event.type, jsonOf(event));
}

/** Server-sent events. No `[DONE]` is sent: the stream ends with its last event. */
export function sseStream(
  reply: EventsReply,
  keepAliveMs: number,
  faults: Pick<Faults, "streamError">,
): OutgoingStream<StreamEvent> {
  return {
    status: reply.status,
    headers: { ...SSE_HEADERS, ...reply.headers },
    values: reply.events,
    frameOf: sseFrame,
    keepAlive: keepAliveEvery(keepAliveMs),
    onError: (error, last) => faults.streamError(error, last),
  };
}

interface TextReply extends ReplyStart {
  readonly texts: AsyncIterable<string>;
  readonly form: FrameForm | null;
  /** The body of an error, for streams with a form of their own. */
  readonly errorBody: (error: ApiError) => object;
}

/** The same, for events as text. `last` of a fault is the last event of the last text. */
export function frameStream(
  { status, headers, texts, form, errorBody }: TextReply,
  keepAliveMs: number,
  faults: Pick<Faults, "streamError">,
): OutgoingStream<string> {
  return {
    status,
    headers: { ...SSE_HEADERS, ...headers },
    values: texts,
    frameOf: (text) => text,
    keepAlive: keepAliveEvery(keepAliveMs, form?.keepAlive),
    onError: (error, last) =>
      form === null
        ? faults.streamError(error, last === null ? null : lastEventIn(last)).map(sseFrame)
        : [form.errorFrame(errorBody(error))],
  };
}

const NDJSON_HEADERS = {
  "content-type": "application/x-ndjson",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

function ndjsonLine(value: object): string {
  return `${jsonOf(value)}\n`;
}

/** One JSON text per line. Requests and replies may be streamed at the same time. */
export function ndjsonStream(reply: LinesReply, faults: Pick<Faults, "streamError">): OutgoingStream<object> {
  return {
    status: reply.status,
    headers: { ...NDJSON_HEADERS, ...reply.headers },
    values: reply.lines,
    frameOf: ndjsonLine,
    keepAlive: null,
    onError: (error, last) => faults.streamError(error, last),
  };
}

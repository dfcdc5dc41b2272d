import type { ApiError } from "../../base/api-error.ts";
import { jsonOf } from "../../base/json/json-text.ts";
import type { Logger } from "../../base/logger.ts";
import { discardBody } from "../body/body-chunks.ts";
import { type Faults, namedFault } from "../faults.ts";
import type { EventsReply, LinesReply, ReplyHeaders, StreamEvent } from "../handler.ts";
import { type Exchange, writeHead } from "../http/exchange.ts";
import { FrameWriter } from "./frame-writer.ts";

/** A stream as it goes out: SSE and NDJSON differ in nothing else. */
interface OutgoingStream<T extends object> {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly values: AsyncIterable<T>;
  readonly frameOf: (value: T) => string;
  /** Sent in silences; null where the format has no such thing. */
  readonly keepAlive: { readonly frame: string; readonly everyMs: number } | null;
  /** What is still said when the source breaks. */
  readonly onError: (error: ApiError, last: T | null) => readonly T[];
}

/** How long the head of a stream waits for the first value: a source that cannot begin mostly says so at once. */
const HEAD_WAIT_MS = 100;

/**
 * Writes values as they come. The head goes out with the first of them, so that a source that fails before can still be
 * answered plainly, but does not wait for it long. When the client leaves, the source is told to return and nothing
 * more is pulled.
 */
export async function writeStream<T extends object>(
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
  const left = Promise.withResolvers<void>();
  const leave = (): void => {
    cancelSource(source, exchange.log, exchange.requestId);
    left.resolve();
  };
  if (out.closed) return leave();
  if (exchange.request.method === "HEAD") {
    out.finish();
    return leave();
  }
  response.once("close", leave);
  const stopKeepAlive = keepAlive(out, stream.keepAlive);
  const headTimer = setTimeout(() => openHead(out, exchange), HEAD_WAIT_MS);
  try {
    await Promise.race([pump({ exchange, source, stream, out, faults }), left.promise]);
  } finally {
    clearTimeout(headTimer);
    stopKeepAlive();
    response.off("close", leave);
  }
  if (!out.closed && !(await discardBody(exchange.request))) exchange.request.destroy();
}

function openHead(out: FrameWriter, { log, requestId }: Exchange): void {
  try {
    out.open();
  } catch (error) {
    log.debug({ err: error, requestId }, "the head of a stream could not be written"); // The first value will tell.
  }
}

interface Pumping<T extends object> {
  readonly exchange: Exchange;
  readonly source: AsyncIterator<T>;
  readonly stream: OutgoingStream<T>;
  readonly out: FrameWriter;
  readonly faults: Pick<Faults, "internalError" | "ofError">;
}

async function pump<T extends object>({ exchange, source, stream, out, faults }: Pumping<T>): Promise<void> {
  let last: T | null = null;
  try {
    for await (const value of { [Symbol.asyncIterator]: () => source }) {
      const room = out.add(stream.frameOf(value));
      last = value;
      if (room !== undefined) await room;
      if (out.closed) return;
    }
  } catch (error) {
    if (out.closed) return;
    if (!out.opened) throw error;
    for (const value of stream.onError(streamFault(exchange, error, faults), last))
      await out.add(stream.frameOf(value));
  }
  out.finish();
}

function streamFault(exchange: Exchange, error: unknown, faults: Pick<Faults, "internalError" | "ofError">): ApiError {
  const named = namedFault(error, faults);
  if (named !== null) return named;
  exchange.log.error({ err: error, requestId: exchange.requestId }, "a stream broke");
  return faults.internalError(exchange.requestId);
}

/** Looks at the writer's clock when a silence could be over, so that a write costs no timer. */
function keepAlive(out: FrameWriter, options: OutgoingStream<object>["keepAlive"]): () => void {
  if (options === null) return () => {};
  const { frame, everyMs } = options;
  const speak = (): void => {
    const isSilent = out.silentMs >= everyMs;
    if (isSilent && !out.blocked) void out.add(frame);
    timer = setTimeout(speak, isSilent ? everyMs : everyMs - out.silentMs);
  };
  let timer = setTimeout(speak, everyMs);
  return () => clearTimeout(timer);
}

/**
 * Tells a source that nobody listens any more. Nobody waits for its last words; a fault among them is still known to
 * the log.
 */
export function cancelSource(source: AsyncIterator<unknown>, log: Logger, requestId: string): void {
  const returned = source.return?.() ?? Promise.resolve();
  returned.catch((error: unknown) => log.debug({ err: error, requestId }, "a source failed after its client had left"));
}

const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no", // Reverse proxies would else hold events back.
};

function sseFrame(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${jsonOf(event)}\n\n`;
}

/** Server-sent events. There is no `[DONE]`: the last event is the end. */
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
    keepAlive: { frame: ": keepalive\n\n", everyMs: keepAliveMs },
    onError: (error, last) => faults.streamError(error, last),
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

/** One JSON text per line, both ways at once where the client wants it. */
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

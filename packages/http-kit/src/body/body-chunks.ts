import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline, Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { ApiError } from "@antiphon/base/api-error.ts";
import type { Faults } from "../faults.ts";

/** The slowest rate at which a large body is accepted, in bytes per second. */
export const BODY_BYTES_PER_SECOND_MIN = 1024;

/** How long receiving a body may take. */
export interface BodyTimeouts {
  /** How long, in milliseconds, the body may stay below `bytesPerSecondMin`. */
  readonly idleTimeoutMs: number;
  /** Bytes that must arrive per second, averaged over `idleTimeoutMs`; with 0, one byte is enough. */
  readonly bytesPerSecondMin: number;
  /**
   * Limit for the whole body, in milliseconds, against clients that send single bytes; null for none, as for streams.
   */
  readonly totalTimeoutMs: number | null;
}

/**
 * The bytes of a request as they arrive. Throws the error that `timedOut` makes when they take too long. Leaving the
 * loop early keeps the connection open, so that a reply can still be sent.
 */
export async function* bodyChunks(
  request: IncomingMessage,
  { idleTimeoutMs, bytesPerSecondMin, totalTimeoutMs }: BodyTimeouts,
  timedOut: () => Error,
): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = request.iterator({ destroyOnReturn: false });
  const endMs = totalTimeoutMs === null ? Number.POSITIVE_INFINITY : performance.now() + totalTimeoutMs;
  const bytesNeeded = Math.max(1, Math.floor((bytesPerSecondMin * idleTimeoutMs) / 1000));
  let idleEndMs = performance.now() + idleTimeoutMs;
  let bytesBrought = 0;
  let waiting = false;
  try {
    for (;;) {
      waiting = true;
      const restMs = Math.max(0, Math.min(idleEndMs, endMs) - performance.now());
      const step = await beforeDeadline(chunks.next(), restMs, timedOut);
      waiting = false;
      if (step.done === true) return;
      bytesBrought += step.value.length;
      yield step.value;
      if (bytesBrought < bytesNeeded) continue;
      bytesBrought = 0;
      // Starts when the consumer asks for more, so that its own delays do not count against the sender.
      idleEndMs = performance.now() + idleTimeoutMs;
    }
  } finally {
    // Removes the iterator's listeners; otherwise discardBody could not read the rest.
    if (!waiting) await chunks.return?.();
  }
}

/**
 * The whole body, if its declared size is small and it arrives together with the head, as most do. Null if it must be
 * awaited or decompressed.
 */
export async function promptBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const { headers } = request;
  const size = Number(headers["content-length"] ?? Number.POSITIVE_INFINITY);
  if (size > bytesMax || headers["content-encoding"] !== undefined) return null;
  // Node parses the bytes after the head later in the same turn of the event loop.
  if (!request.complete) await new Promise(setImmediate);
  if (!request.complete || request.readableLength === 0) return null;
  const body: unknown = request.read();
  return Buffer.isBuffer(body) ? body : null;
}

function beforeDeadline<T>(work: Promise<T>, ms: number, timedOut: () => Error): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(timedOut()), ms);
  work.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

/** Whether more bytes of the body may still arrive. */
export function isBodyPending(request: IncomingMessage): boolean {
  return !request.complete && !request.destroyed && hasBody(request);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/**
 * How much of an unwanted body is read before the connection closes. Closing at once would reset the connection, and
 * the client would not see the reply.
 */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;
const DISCARDED_MS_MAX = 5_000;

/** Reads and drops the rest of a body, within limits. Resolves to whether the whole body has arrived. */
export function discardBody(request: IncomingMessage): Promise<boolean> {
  if (!isBodyPending(request)) return Promise.resolve(true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let bytes = 0;
  const stop = (): void => {
    clearTimeout(timer);
    request.off("data", count).off("end", stop).off("close", stop).pause();
    resolve(request.complete);
  };
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > DISCARDED_BYTES_MAX) stop();
  };
  const timer = setTimeout(stop, DISCARDED_MS_MAX);
  request.on("data", count).once("end", stop).once("close", stop).resume();
  return promise;
}

export interface BodyLimits extends BodyTimeouts {
  readonly bytesMax: number;
}

export type BodyFaults = Pick<
  Faults,
  "bodyTooLarge" | "bodyPackedTooTightly" | "bodyTimedOut" | "noRoomForBody" | "unsupportedEncoding" | "invalidJson"
>;

/** The maximum ratio of unpacked to compressed size. JSON and text rarely exceed 20; repeated bytes reach 1,000. */
export const UNPACKED_RATIO_MAX = 100;
/** Up to this many unpacked bytes, the ratio is not checked. */
export const UNPACKED_FREE_BYTES = 1024 * 1024;

/** The largest zstd window that RFC 9659 allows over HTTP: 2^23 bytes, or 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23;
const UNPACKED_PIECE_BYTES = 64 * 1024;
const OPTIONS = { chunkSize: UNPACKED_PIECE_BYTES };

const DECODERS: ReadonlyMap<string, () => Duplex> = new Map<string, () => Duplex>([
  ["gzip", () => createGunzip(OPTIONS)],
  ["x-gzip", () => createGunzip(OPTIONS)],
  ["deflate", () => createInflate(OPTIONS)],
  ["br", () => createBrotliDecompress(OPTIONS)],
  [
    "zstd",
    () => createZstdDecompress({ ...OPTIONS, params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
  ],
]);

/** The decompressed body as it arrives. `limits.bytesMax` applies both to the compressed and to the unpacked bytes. */
export async function* decodeBody(
  request: IncomingMessage,
  limits: BodyLimits,
  faults: BodyFaults,
): AsyncGenerator<Uint8Array> {
  const encoding = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const decoder = DECODERS.get(encoding)?.();
  if (decoder === undefined && encoding !== "identity" && encoding !== "") throw faults.unsupportedEncoding(encoding);
  if (Number(request.headers["content-length"] ?? 0) > limits.bytesMax) throw faults.bodyTooLarge(limits.bytesMax);
  const wire = limitSize(bodyChunks(request, limits, faults.bodyTimedOut), limits, faults);
  if (decoder === undefined) yield* wire;
  else yield* limitSize(unpackBytes(wire, decoder, faults), limits, faults);
}

async function* limitSize(
  chunks: AsyncIterable<Uint8Array>,
  { bytesMax }: BodyLimits,
  faults: BodyFaults,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > bytesMax) throw faults.bodyTooLarge(bytesMax);
    yield chunk;
  }
}

async function* unpackBytes(
  wire: AsyncIterable<Uint8Array>,
  decoder: Duplex,
  faults: BodyFaults,
): AsyncGenerator<Uint8Array> {
  const tally = { bytes: 0 };
  // Errors reach the loop below through the decoder.
  pipeline(Readable.from(countBytes(wire, tally)), decoder, () => {});
  let size = 0;
  try {
    for await (const chunk of decoder) {
      if (!(chunk instanceof Uint8Array)) continue;
      size += chunk.length;
      const isFree = size <= UNPACKED_FREE_BYTES;
      if (!isFree && size > tally.bytes * UNPACKED_RATIO_MAX) throw faults.bodyPackedTooTightly(UNPACKED_RATIO_MAX);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ApiError ? error : faults.invalidJson();
  }
}

async function* countBytes(chunks: AsyncIterable<Uint8Array>, tally: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    tally.bytes += chunk.length;
    yield chunk;
  }
}

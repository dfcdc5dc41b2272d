import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline, Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { ApiError } from "../../base/api-error.ts";
import type { Faults } from "../faults.ts";

/** Slower than any connection that a large body could come to its end on. */
export const BODY_BYTES_PER_SECOND_MIN = 1024;

/** How long a body may be on its way. */
export interface BodyPatience {
  /** Without having brought what `bytesPerSecondMin` asks for. */
  readonly idleTimeoutMs: number;
  /** What has to come for each second of `idleTimeoutMs`; 0: a byte is enough. */
  readonly bytesPerSecondMin: number;
  /** As a whole, so that nobody holds a request open by single bytes; null: for ever, as a stream may. */
  readonly totalTimeoutMs: number | null;
}

/**
 * The bytes of a request as they come. Throws what `timedOut` makes when they take longer than `patience` allows.
 * Leaving the loop early does not destroy the connection, so that a reply can still be sent.
 */
export async function* bodyChunks(
  request: IncomingMessage,
  { idleTimeoutMs, bytesPerSecondMin, totalTimeoutMs }: BodyPatience,
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
      // Not before whoever reads asks for more: that may take time which is not the sender's.
      idleEndMs = performance.now() + idleTimeoutMs;
    }
  } finally {
    if (!waiting) await chunks.return?.(); // Takes its listeners off, without which the rest could not be discarded.
  }
}

function beforeDeadline<T>(work: Promise<T>, ms: number, timedOut: () => Error): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(timedOut()), ms);
  work.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}

/** Whether bytes of the body may still be on their way. */
export function isBodyPending(request: IncomingMessage): boolean {
  return !request.complete && !request.destroyed && hasBody(request);
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/**
 * How much of an unwanted body is read so that its sender gets to see the reply: closing at once would reset the
 * connection under it.
 */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;
const DISCARDED_MS_MAX = 5_000;

/** Reads the rest of a body and throws it away, within bounds. Resolves to whether all of it came. */
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

export interface BodyLimits extends BodyPatience {
  readonly bytesMax: number;
}

export type BodyFaults = Pick<
  Faults,
  "bodyTooLarge" | "bodyPackedTooTightly" | "bodyTimedOut" | "noRoomForBody" | "unsupportedEncoding" | "invalidJson"
>;

/**
 * What a body may become of its size on the wire. JSON and text rarely become 20 times as large; what repeats itself
 * becomes a thousand times as large.
 */
export const UNPACKED_RATIO_MAX = 100;
/** Below this many bytes the ratio does not matter. */
export const UNPACKED_FREE_BYTES = 1024 * 1024;

/** The largest window of zstd over HTTP, as RFC 9659 has it: 8 MiB. */
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

/** The body as it comes, decompressed. The limit holds for the bytes on the wire and for those they become. */
export async function* decodeBody(
  request: IncomingMessage,
  limits: BodyLimits,
  faults: BodyFaults,
): AsyncGenerator<Uint8Array> {
  const encoding = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const decoder = DECODERS.get(encoding)?.();
  if (decoder === undefined && encoding !== "identity" && encoding !== "") throw faults.unsupportedEncoding(encoding);
  if (Number(request.headers["content-length"] ?? 0) > limits.bytesMax) throw faults.bodyTooLarge(limits.bytesMax);
  const wire = bounded(bodyChunks(request, limits, faults.bodyTimedOut), limits, faults);
  if (decoder === undefined) yield* wire;
  else yield* bounded(unpacked(wire, decoder, faults), limits, faults);
}

async function* bounded(
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

async function* unpacked(
  wire: AsyncIterable<Uint8Array>,
  decoder: Duplex,
  faults: BodyFaults,
): AsyncGenerator<Uint8Array> {
  const taken = { bytes: 0 };
  // Whatever breaks, the decoder tells it to whoever reads.
  pipeline(Readable.from(counted(wire, taken)), decoder, () => {});
  let size = 0;
  try {
    for await (const chunk of decoder) {
      if (!(chunk instanceof Uint8Array)) continue;
      size += chunk.length;
      const isFree = size <= UNPACKED_FREE_BYTES;
      if (!isFree && size > taken.bytes * UNPACKED_RATIO_MAX) throw faults.bodyPackedTooTightly(UNPACKED_RATIO_MAX);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ApiError ? error : faults.invalidJson();
  }
}

async function* counted(chunks: AsyncIterable<Uint8Array>, taken: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    taken.bytes += chunk.length;
    yield chunk;
  }
}

import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline, Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { ApiError } from "../../base/api-error.ts";
import type { Faults } from "../faults.ts";
import { type BodyPatience, bodyChunks } from "./body-chunks.ts";

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

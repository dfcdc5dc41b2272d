import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline, Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { ApiError } from "../base/api-error.ts";
import { bodyChunks } from "./body-chunks.ts";
import type { BodyFaults, BodyLimits } from "./collect-body.ts";

const DECODERS: ReadonlyMap<string, () => Duplex> = new Map<string, () => Duplex>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
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
  else yield* bounded(decoded(wire, decoder, faults), limits, faults);
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

async function* decoded(
  wire: AsyncIterable<Uint8Array>,
  decoder: Duplex,
  faults: BodyFaults,
): AsyncGenerator<Uint8Array> {
  pipeline(Readable.from(wire), decoder, () => {}); // Whatever breaks, the decoder tells it to whoever reads.
  try {
    for await (const chunk of decoder) if (chunk instanceof Uint8Array) yield chunk;
  } catch (error) {
    throw error instanceof ApiError ? error : faults.invalidJson();
  }
}

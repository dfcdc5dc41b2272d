import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, zstdDecompress } from "node:zlib";
import type { ApiError } from "../base/api-error.ts";
import { type BodyPatience, bodyChunks } from "./body-chunks.ts";
import type { Faults } from "./faults.ts";

export interface BodyLimits extends BodyPatience {
  readonly bytesMax: number;
}

export type BodyFaults = Pick<Faults, "bodyTooLarge" | "bodyTimedOut" | "unsupportedEncoding" | "invalidJson">;
type Decompress = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECOMPRESSORS: ReadonlyMap<string, Decompress> = new Map<string, Decompress>([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
  ["zstd", promisify(zstdDecompress)],
]);

/** The whole body, decompressed. The limit holds for the bytes on the wire and for those they become. */
export async function collectBody(request: IncomingMessage, limits: BodyLimits, faults: BodyFaults): Promise<Buffer> {
  const encoding = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const decompress = DECOMPRESSORS.get(encoding);
  if (decompress === undefined && encoding !== "identity" && encoding !== "")
    throw faults.unsupportedEncoding(encoding);
  if (Number(request.headers["content-length"] ?? 0) > limits.bytesMax) throw faults.bodyTooLarge(limits.bytesMax);
  const bytes = await collect(request, limits, faults);
  if (decompress === undefined || bytes.length === 0) return bytes;
  try {
    return await decompress(bytes, { maxOutputLength: limits.bytesMax });
  } catch (error) {
    throw decompressionFault(error, limits, faults);
  }
}

async function collect(request: IncomingMessage, limits: BodyLimits, faults: BodyFaults): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bodyChunks(request, limits, faults.bodyTimedOut)) {
    size += chunk.length;
    if (size > limits.bytesMax) throw faults.bodyTooLarge(limits.bytesMax);
    chunks.push(chunk);
  }
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size);
}

function decompressionFault(error: unknown, limits: BodyLimits, faults: BodyFaults): ApiError {
  const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
  return isTooLarge ? faults.bodyTooLarge(limits.bytesMax) : faults.invalidJson();
}

import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { EgressError } from "./egress-error.ts";

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Reads and decodes a whole body. `bytesMax` limits both the bytes from the connection and the decoded bytes. Rejects
 * with `EgressError` for an unknown or broken encoding and for a body that is too large.
 */
export async function readDecodedBody(body: Readable, encoding: string | null, bytesMax: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (name === "" || name === "identity") return gather(body, bytesMax);
  const createDecoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (createDecoder === undefined)
    throw new EgressError("bad_encoding", "The reply has a content encoding that this server does not support");
  try {
    return await pipeline(body, limiter(bytesMax), createDecoder(), (stream: AsyncIterable<unknown>) =>
      gather(stream, bytesMax),
    );
  } catch (error) {
    if (!isDecodingFault(error)) throw error;
    throw new EgressError("bad_encoding", "The reply could not be decompressed", error);
  }
}

/** Recognizes the error codes of zlib, Brotli and Zstandard. */
function isDecodingFault(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(?:Z_|ZSTD_|ERR__|ERR_BROTLI_)/.test(String(error.code));
}

async function gather(pieces: AsyncIterable<unknown>, bytesMax: number): Promise<Buffer> {
  const buffers: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    if (!Buffer.isBuffer(piece)) continue;
    bytes += piece.length;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    buffers.push(piece);
  }
  return Buffer.concat(buffers);
}

function limiter(bytesMax: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, callback): void {
      bytes += piece.length;
      if (bytes > bytesMax) callback(tooLarge(bytesMax));
      else callback(null, piece);
    },
  });
}

export function tooLarge(bytesMax: number): EgressError {
  return new EgressError("too_large", `The reply is larger than ${bytesMax} bytes`);
}

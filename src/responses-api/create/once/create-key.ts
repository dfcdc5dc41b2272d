import { createHash } from "node:crypto";
import { chunksOfText } from "@antiphon/base/json/read-json-in-slices.ts";
import { Slices } from "@antiphon/base/limits/slices.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { CreateKey } from "@antiphon/domain/create-keys.ts";
import { invalidIdempotencyKey } from "../../errors/state-errors.ts";

/** A file of a form, with its name. */
interface Upload {
  readonly path: string;
  readonly mimeType: string;
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The key of a create request from its header `Idempotency-Key`; null without one. Throws an `ApiError`. */
export async function createKeyOf(
  header: string | undefined,
  request: CreateResponseRequest,
): Promise<CreateKey | null> {
  if (header === undefined) return null;
  const key = readKey(header);
  // How the answer is shown does not count.
  const { stream: _stream, stream_options: _options, ...content } = request;
  const fingerprint = await fingerprintOf(content);
  return { operation: "createResponse", key, fingerprint, isKept: request.store !== false };
}

/** The key in a header `Idempotency-Key`. Throws an `ApiError`. */
export function readKey(header: string): string {
  if (!KEY.test(header)) throw invalidIdempotencyKey();
  return header;
}

/**
 * The hash of a JSON value, whatever the order of its members. Uploads in it count with their content. Large values
 * take several turns of the event loop.
 */
export async function fingerprintOf(value: unknown): Promise<string> {
  const hash = createHash("sha256");
  const slices = new Slices();
  for (const piece of jsonPieces(value)) {
    if (typeof piece === "string" || Buffer.isBuffer(piece)) hash.update(piece);
    else for await (const bytes of piece) hash.update(bytes);
    await slices.pause();
  }
  return hash.digest("hex");
}

function* jsonPieces(value: unknown): Generator<string | Buffer | AsyncIterable<Uint8Array>> {
  if (typeof value === "string") {
    yield `"${value.length}:`;
    yield* chunksOfText(value);
  } else if (Array.isArray(value)) {
    yield `[${value.length}:`;
    for (const element of value) yield* jsonPieces(element);
  } else if (isUpload(value)) {
    yield* jsonPieces([value.path, value.mimeType, value.size]);
    yield value.read();
  } else if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    yield `{${members.length}:`;
    for (const [name, member] of members.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      yield* jsonPieces(name);
      yield* jsonPieces(member);
    }
  } else yield `${String(value)};`;
}

function isUpload(value: unknown): value is Upload {
  return typeof value === "object" && value !== null && "read" in value && typeof value.read === "function";
}

import { createHash } from "node:crypto";
import { chunksOfText } from "@antiphon/base/json/read-json-in-slices.ts";
import { Slices } from "@antiphon/base/limits/slices.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { CreateKey } from "@antiphon/domain/create-keys.ts";
import { invalidIdempotencyKey } from "../../errors/state-errors.ts";

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The key of a create request from its header `Idempotency-Key`; null without one. Throws an `ApiError`. */
export async function createKeyOf(
  header: string | undefined,
  request: CreateResponseRequest,
): Promise<CreateKey | null> {
  if (header === undefined) return null;
  if (!KEY.test(header)) throw invalidIdempotencyKey();
  // How the answer is shown does not count.
  const { stream: _stream, stream_options: _options, ...content } = request;
  const fingerprint = await fingerprintOf(content);
  return { operation: "createResponse", key: header, fingerprint, isKept: request.store !== false };
}

/** The hash of a JSON value, whatever the order of its members. Large values take several turns of the event loop. */
async function fingerprintOf(value: unknown): Promise<string> {
  const hash = createHash("sha256");
  const slices = new Slices();
  for (const piece of jsonPieces(value)) {
    hash.update(piece);
    await slices.pause();
  }
  return hash.digest("hex");
}

function* jsonPieces(value: unknown): Generator<string | Buffer> {
  if (typeof value === "string") {
    yield `"${value.length}:`;
    yield* chunksOfText(value);
  } else if (Array.isArray(value)) {
    yield `[${value.length}:`;
    for (const element of value) yield* jsonPieces(element);
  } else if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    yield `{${members.length}:`;
    for (const [name, member] of members.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      yield* jsonPieces(name);
      yield* jsonPieces(member);
    }
  } else yield `${String(value)};`;
}

import { writeJsonParts } from "@antiphon/base/json/write-json.ts";
import { Slices } from "@antiphon/base/limits/slices.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";

type Item = ModelRequest["items"][number];

/** Tokens of an image, file or recording at most, if the item holds only a reference to it. */
const REFERENCE_TOKENS_MAX = 3000;
/** A `data` member of at most this many characters is treated as text. */
const DATA_MIN = 256;
const REFERENCES = /"(?:input_image|input_file|input_audio)"/g;

/**
 * An upper bound of the request's tokens. A token is at least one byte, and JSON adds more around a text than a chat
 * template does.
 */
export async function tokensAtMost({ instructions, items, tools }: ModelRequest): Promise<number> {
  const json = await writeJsonParts({ instructions, items, tools });
  const slices = new Slices();
  let tokens = 0;
  for (const part of typeof json === "string" ? [json] : json) {
    tokens += Buffer.byteLength(part) + (part.match(REFERENCES)?.length ?? 0) * REFERENCE_TOKENS_MAX;
    await slices.pause();
  }
  return tokens;
}

/**
 * The size of an item relative to other items of the same request; it has no unit. Base64 data counts as one image, not
 * by its length.
 */
export function relativeSize(item: Item): number {
  let pictures = 0;
  const json = JSON.stringify(item, (key, value: unknown) => {
    if (typeof value !== "string" || !(value.startsWith("data:") || (key === "data" && value.length > DATA_MIN)))
      return value;
    pictures += 1;
    return "";
  });
  return json.length + pictures * REFERENCE_TOKENS_MAX;
}

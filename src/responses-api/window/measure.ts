import { writeJson } from "../../base/json/write-json.ts";
import type { ModelRequest } from "../../runs/ports.ts";

type Item = ModelRequest["items"][number];

/** What a picture, a file or a recording takes at most, where it is only a reference. */
const REFERENCE_TOKENS_MAX = 3000;
/** A shorter text under the name of `data` is taken for a text. */
const DATA_MIN = 256;
const REFERENCES = /"(?:input_image|input_file|input_audio)"/g;

/**
 * More tokens than the turn can take: no token is shorter than a byte, and JSON says more around a text than a chat
 * template does.
 */
export async function tokensAtMost({ instructions, items, tools }: ModelRequest): Promise<number> {
  const json = await writeJson({ instructions, items, tools });
  return Buffer.byteLength(json) + (json.match(REFERENCES)?.length ?? 0) * REFERENCE_TOKENS_MAX;
}

/**
 * In no unit of its own: only good for comparing items of one request. Data in base 64 weighs as much as what it shows,
 * not as its text.
 */
export function weigh(item: Item): number {
  let pictures = 0;
  const json = JSON.stringify(item, (key, value: unknown) => {
    if (typeof value !== "string" || !(value.startsWith("data:") || (key === "data" && value.length > DATA_MIN)))
      return value;
    pictures += 1;
    return "";
  });
  return json.length + pictures * REFERENCE_TOKENS_MAX;
}

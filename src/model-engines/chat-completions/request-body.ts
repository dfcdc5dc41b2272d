import { Readable } from "node:stream";
import { writeJsonBytes } from "../../base/json/write-json.ts";

/** A JSON body as undici takes it, and the headers that tell of it. A large one is never joined to one piece. */
export async function requestBody(value: object) {
  const parts = await writeJsonBytes(value);
  const [first] = parts;
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  return {
    headers: { "content-type": "application/json", "content-length": String(bytes) },
    body: parts.length === 1 && first !== undefined ? first : Readable.from(parts),
  };
}

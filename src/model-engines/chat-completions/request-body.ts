import { Readable } from "node:stream";
import { writeJsonBytes } from "../../base/json/write-json.ts";

/** Encodes a JSON body for undici, with its headers. A large body is sent in pieces (`parts`), without joining them. */
export async function requestBody(value: object) {
  const parts = await writeJsonBytes(value);
  const [first] = parts;
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  return {
    parts,
    headers: { "content-type": "application/json", "content-length": String(bytes) },
    body: parts.length === 1 && first !== undefined ? first : Readable.from(parts),
  };
}

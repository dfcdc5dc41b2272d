import { Readable } from "node:stream";
import { writeJsonBytes } from "@antiphon/base/json/write-json.ts";

/** The body of a call in parts, as encoded by `requestBody`. */
export type SentParts = readonly Buffer[];

/** Encodes a JSON body for undici, with its headers. A large body is sent in pieces (`parts`), without joining them. */
export async function requestBody(value: object) {
  const parts = await writeJsonBytes(value);
  const [first] = parts;
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  return {
    parts,
    headers: { "content-type": "application/json", "content-length": String(bytes) },
    body: parts.length === 1 && first !== undefined ? first : new PartsBody(parts),
  };
}

/** A body of several parts. An instance is sent once; `again` creates another one from the same parts. */
export class PartsBody extends Readable {
  readonly #parts: readonly Uint8Array[];
  #next = 0;

  constructor(parts: readonly Uint8Array[]) {
    super();
    this.#parts = parts;
  }

  override _read(): void {
    this.push(this.#parts[this.#next] ?? null);
    this.#next += 1;
  }

  again(): PartsBody {
    return new PartsBody(this.#parts);
  }
}

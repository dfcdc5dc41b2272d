import { isRecord } from "@antiphon/base/json/records.ts";
import { EmbeddingFailed } from "../ports/vectors.ts";

const DIMENSIONS_MAX = 16_384;

/** The vectors of a reply of `/embeddings`, of unit length and in the order of the texts. Throws `EmbeddingFailed`. */
export function vectorsIn(answer: unknown, count: number): readonly Float32Array[] {
  const list: unknown = isRecord(answer) ? answer["data"] : null;
  if (!Array.isArray(list) || list.length !== count)
    throw new EmbeddingFailed(`${SERVER} did not send one vector for each text.`);
  const vectors = new Map<number, Float32Array>();
  for (const [place, element] of list.entries()) {
    const { index, embedding } = isRecord(element) ? element : {};
    vectors.set(typeof index === "number" ? index : place, unitVector(numbersOf(embedding)));
  }
  const dimensions = vectors.get(0)?.length;
  return Array.from({ length: count }, (_, index) => {
    const vector = vectors.get(index);
    if (vector === undefined) throw new EmbeddingFailed(`${SERVER} did not send one vector for each text.`);
    if (vector.length !== dimensions) throw new EmbeddingFailed(`${SERVER} sent vectors of several lengths.`);
    return vector;
  });
}

const SERVER = "The embedding server";

/** A list of numbers, or the bytes of 32-bit floats (little-endian) in base64. */
function numbersOf(embedding: unknown): Float32Array {
  if (typeof embedding === "string") return floatsOf(Buffer.from(embedding, "base64"));
  if (!Array.isArray(embedding) || embedding.length > DIMENSIONS_MAX) throw notVector();
  return Float32Array.from(embedding, (value: unknown) => (typeof value === "number" ? value : Number.NaN));
}

function floatsOf(bytes: Buffer): Float32Array {
  const size = Float32Array.BYTES_PER_ELEMENT;
  if (bytes.length % size !== 0 || bytes.length > DIMENSIONS_MAX * size) throw notVector();
  return Float32Array.from({ length: bytes.length / size }, (_, index) => bytes.readFloatLE(index * size));
}

function unitVector(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  // Also rejects values that are not numbers, and the zero vector, which has no direction.
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) throw notVector();
  return vector.map((value) => value / length);
}

function notVector(): EmbeddingFailed {
  return new EmbeddingFailed(`${SERVER} sent something that is no vector.`, { dependsOnTexts: true });
}

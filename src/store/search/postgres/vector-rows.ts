import { endianness } from "node:os";
import { type RawBuilder, sql } from "kysely";
import type { KeyedVector } from "../../../vector-stores/ports/chunks.ts";
import { quantize } from "../quantized.ts";

/** The number of the type `real` in PostgreSQL's system catalogue. */
const REAL = 700;
const HEADER_BYTES = 20;
const REAL_BYTES = 4;

/** Rows for the table of vectors, to be selected into it. All vectors have the same length. */
export function postgresVectorRows(modelKey: number, vectors: readonly KeyedVector[]): RawBuilder<unknown> {
  const dimensions = vectors[0]?.vector.length ?? 0;
  const all = new Float32Array(vectors.length * dimensions);
  for (const [index, { vector }] of vectors.entries()) all.set(vector, index * dimensions);
  const { width, rows, scales } = quantize(all, dimensions);
  return sql`(model_number, key, vector, steps, scale)
    select ${modelKey}::bigint, key, (${binaryReals(all)}::real[])[(place - 1) * ${sql.lit(dimensions)} + 1 : place * ${sql.lit(dimensions)}],
      substring(${Buffer.from(rows.buffer)}::bytea from ((place - 1) * ${sql.lit(width)} + 1)::int for ${sql.lit(width)}),
      scale
    from unnest(${vectors.map(({ key }) => key)}::bigint[], ${[...scales]}::real[])
      with ordinality as given (key, scale, place)`;
}

/** A parameter of type `real[]` in PostgreSQL's binary format. Text is longer and slower to read. */
function binaryReals(values: Float32Array): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + values.length * 2 * REAL_BYTES);
  for (const [index, value] of [1, 0, REAL, values.length, 1].entries()) bytes.writeInt32BE(value, index * 4);
  // Each value follows its length.
  const words = new Uint32Array(values.length * 2);
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  for (const [index, value] of bits.entries()) {
    words[2 * index] = REAL_BYTES;
    words[2 * index + 1] = value;
  }
  const pairs = Buffer.from(words.buffer);
  if (endianness() === "LE") pairs.swap32();
  pairs.copy(bytes, HEADER_BYTES);
  return bytes;
}

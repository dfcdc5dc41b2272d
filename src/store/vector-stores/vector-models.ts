import { type Kysely, type RawBuilder, sql } from "kysely";
import { assert } from "../../base/assert.ts";
import type { KeyedVector, VectorModel } from "../../vector-stores/ports.ts";
import type { Database } from "../database/schema.ts";

/** The number of a model in the database, which is given one if it has none. */
export async function modelNumber(db: Kysely<Database>, { name, dimensions }: VectorModel): Promise<number> {
  const find = () =>
    db
      .selectFrom("vector_models")
      .select("number")
      .where("name", "=", name)
      .where("dimensions", "=", dimensions)
      .executeTakeFirst();
  const known = await find();
  if (known !== undefined) return known.number;
  await sql`insert or ignore into vector_models (name, dimensions) values (${name}, ${dimensions})`.execute(db);
  const added = await find();
  assert(added !== undefined, "a model that was added has a number");
  return added.number;
}

/** Rows of the table of vectors, to be selected into it. */
export function vectorRows(modelKey: number, vectors: readonly KeyedVector[]): RawBuilder<unknown> {
  const list = JSON.stringify(vectors.map(({ key, vector }) => [key, hexOf(vector)]));
  return sql`(model_number, key, vector)
    select ${modelKey}, value ->> 0, unhex(value ->> 1) from json_each(${list})`;
}

/** 32-bit floats, little-endian. */
function hexOf(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("hex");
}

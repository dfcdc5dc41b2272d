import { assert } from "@antiphon/base/assert.ts";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { KeyedVector, VectorModel } from "../../../vector-stores/ports/chunks.ts";
import { dialectal } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { postgresVectorRows } from "../../search/postgres/vector-rows.ts";

/** The number of a model in the database; assigned if it has none. */
export async function modelNumber(db: Kysely<Database>, { name, dimensions }: VectorModel): Promise<number> {
  const find = () =>
    db
      .selectFrom("vector_models")
      .select("number")
      .where("name", "=", name)
      .where("dimensions", "=", dimensions)
      .executeTakeFirst();
  const row = await find();
  if (row !== undefined) return row.number;
  await sql`insert into vector_models (name, dimensions) values (${name}, ${dimensions}) on conflict do nothing`.execute(
    db,
  );
  const newRow = await find();
  assert(newRow !== undefined, "a model that was added has a number");
  return newRow.number;
}

/** Rows for the table of vectors, to be selected into it. */
export function vectorRows(modelKey: number, vectors: readonly KeyedVector[]): RawBuilder<unknown> {
  return dialectal(
    sql`(model_number, key, vector) select ${modelKey}, value ->> 0, unhex(value ->> 1)
      from json_each(${JSON.stringify(vectors.map(({ key, vector }) => [key, hexOf(vector)]))}) where true`,
    () => postgresVectorRows(modelKey, vectors),
  );
}

/** 32-bit floats, little-endian. */
function hexOf(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("hex");
}

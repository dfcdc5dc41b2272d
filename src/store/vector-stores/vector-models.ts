import { type Kysely, sql } from "kysely";
import { assert } from "../../base/assert.ts";
import type { VectorModel } from "../../vector-stores/ports.ts";
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

/** 32-bit floats, little-endian. */
export function blobOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

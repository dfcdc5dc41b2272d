import type { Kysely } from "kysely";
import type { Database } from "../../database/schema.ts";
import { addUp, type FileTotals, NO_FILES } from "./vector-store-rows.ts";

export async function totalsOfStore(db: Kysely<Database>, storeNumber: number): Promise<FileTotals> {
  return (await totalsOfStores(db, [{ number: storeNumber }])).get(storeNumber) ?? NO_FILES;
}

export async function totalsOfStores(
  db: Kysely<Database>,
  stores: readonly { readonly number: number }[],
): Promise<ReadonlyMap<number, FileTotals>> {
  if (stores.length === 0) return new Map();
  const rows = await db
    .selectFrom("vector_store_files")
    .select([
      "store_number",
      "status",
      (row) => row.fn.countAll<number>().as("files"),
      (row) => row.fn.sum<number>("usage_bytes").as("bytes"),
    ])
    .where(
      "store_number",
      "in",
      stores.map(({ number }) => number),
    )
    .groupBy(["store_number", "status"])
    .execute();
  const byStore = Map.groupBy(rows, (row) => row.store_number);
  return new Map([...byStore].map(([number, ofStore]) => [number, addUp(ofStore)]));
}

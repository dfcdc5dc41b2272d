/** The search thread for SQLite. */
import { workerData } from "node:worker_threads";
import { Kysely } from "kysely";
import type { Database } from "../database/schema.ts";
import { ReadOnlyDatabase } from "../database/sqlite/sqlite.ts";
import { remoteDialect } from "../owner/thread/remote-dialect.ts";
import { ChunkSearch } from "./chunk-search.ts";
import type { SearchThreadData } from "./search-messages.ts";
import { serveSearches } from "./serve-searches.ts";
import { SqliteChunkIndex } from "./sqlite-chunk-index.ts";
import { VectorCache } from "./vector-scores.ts";

const { database: file, vectorBytesMax }: SearchThreadData<string> = workerData;
const database = new ReadOnlyDatabase(file);
const query = async ({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) => ({
  rows: rowsOf(database.all(sql, parameters)),
  numAffectedRows: undefined,
  insertId: undefined,
});
const db = new Kysely<Database>({ dialect: remoteDialect({ query }) });
serveSearches(new ChunkSearch(db, new SqliteChunkIndex(db), new VectorCache(vectorBytesMax)));

/** Only the author of a statement knows the shape of its rows. */
function rowsOf(rows: unknown[]): never[] {
  return rows.filter((row): row is never => row !== undefined);
}

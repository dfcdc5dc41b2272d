/** The search thread: answers one request after the other. */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { Kysely } from "kysely";
import { assert } from "../../../base/assert.ts";
import type { Database } from "../../database/schema.ts";
import { ReadOnlyDatabase } from "../../database/sqlite.ts";
import { messageOfError } from "../../thread/messages.ts";
import { remoteDialect } from "../../thread/remote-dialect.ts";
import { ChunkSearch } from "./chunk-search.ts";
import type { SearchAnswer, SearchRequest, SearchThreadData } from "./search-messages.ts";
import { SqliteChunkIndex } from "./sqlite-chunk-index.ts";
import { VectorCache } from "./vector-scores.ts";

assert(!isMainThread && parentPort !== null, "this module is the start of a thread");
const port = parentPort;
const { file, vectorBytesMax }: SearchThreadData = workerData;
const database = new ReadOnlyDatabase(file);
const query = async ({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) => ({
  rows: rowsOf(database.all(sql, parameters)),
  numAffectedRows: undefined,
  insertId: undefined,
});
const db = new Kysely<Database>({ dialect: remoteDialect({ query }) });
const search = new ChunkSearch(db, new SqliteChunkIndex(db), new VectorCache(vectorBytesMax));

/** Only the writer of a statement knows the shape of its rows. */
function rowsOf(rows: unknown[]): never[] {
  return rows.filter((row): row is never => row !== undefined);
}

async function answer(request: SearchRequest): Promise<SearchAnswer> {
  const { id, name } = request;
  try {
    if (name === "models") return { id, name, models: await search.modelsOf(request.scope) };
    return { id, name, found: await search.find(request.scope, request.questions, request.perKindMax) };
  } catch (error) {
    return { id, name: "failed", error: messageOfError(error) };
  }
}

let earlier = Promise.resolve();
port.on("message", (request: SearchRequest) => {
  earlier = earlier.then(async () => port.postMessage(await answer(request)));
});

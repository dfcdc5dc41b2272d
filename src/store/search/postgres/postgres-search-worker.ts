/** The search thread for PostgreSQL. */
import { workerData } from "node:worker_threads";
import { Kysely } from "kysely";
import { type DatabaseAddress, openPostgresPool } from "../../database/postgres/connections.ts";
import { postgresDialect } from "../../database/postgres/postgres-dialect.ts";
import type { Database } from "../../database/schema.ts";
import { ChunkSearch } from "../chunk-search.ts";
import type { SearchThreadData } from "../search-messages.ts";
import { serveSearches } from "../serve-searches.ts";
import { VectorCache } from "../vector-scores.ts";
import { PostgresChunkIndex } from "./postgres-chunk-index.ts";

const { database, vectorBytesMax }: SearchThreadData<DatabaseAddress> = workerData;
const db = new Kysely<Database>({ dialect: postgresDialect(openPostgresPool(database, 1)) });
serveSearches(new ChunkSearch(db, new PostgresChunkIndex(db), new VectorCache(vectorBytesMax)));

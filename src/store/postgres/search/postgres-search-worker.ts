/** The search thread for PostgreSQL. */
import { workerData } from "node:worker_threads";
import { Kysely } from "kysely";
import type { Database } from "../../database/schema.ts";
import { ChunkSearch } from "../../vector-stores/search/chunk-search.ts";
import type { SearchThreadData } from "../../vector-stores/search/search-messages.ts";
import { serveSearches } from "../../vector-stores/search/serve-searches.ts";
import { VectorCache } from "../../vector-stores/search/vector-scores.ts";
import { type DatabaseAddress, openPostgresPool } from "../connections.ts";
import { postgresDialect } from "../postgres-dialect.ts";
import { PostgresChunkIndex } from "./postgres-chunk-index.ts";

const { database, vectorBytesMax }: SearchThreadData<DatabaseAddress> = workerData;
const db = new Kysely<Database>({ dialect: postgresDialect(openPostgresPool(database, 1)) });
serveSearches(new ChunkSearch(db, new PostgresChunkIndex(db), new VectorCache(vectorBytesMax)));

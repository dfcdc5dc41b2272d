import pg from "pg";
import { READ_AS_SQLITE } from "./postgres-values.ts";

export interface DatabaseAddress {
  /** A `postgres://` address with user, password and database. */
  readonly url: string;
  /** How long a statement, and the wait for a connection, may take in milliseconds. */
  readonly timeoutMs: number;
  /** How long a statement waits for a lock in milliseconds. Left out: as long as it may take. */
  readonly lockWaitMs?: number;
}

/** After this long in a transaction without a statement, PostgreSQL takes a server for cut off and frees its locks. */
const IDLE_IN_TRANSACTION_MS = 2_000;
/** The answer to a statement that PostgreSQL itself has ended may take this long to arrive, in milliseconds. */
const ANSWER_MS = 500;
const IDLE_MS = 60_000;
const KEEP_ALIVE_MS = 5_000;

/** Opens connections as they are needed, up to `max`. Every wait on them has an end. */
export function openPostgresPool({ url, timeoutMs, lockWaitMs }: DatabaseAddress, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: timeoutMs,
    idleTimeoutMillis: IDLE_MS,
    statement_timeout: timeoutMs,
    lock_timeout: lockWaitMs ?? timeoutMs,
    query_timeout: timeoutMs + ANSWER_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: "antiphon",
    allowExitOnIdle: true,
    types: READ_AS_SQLITE,
  });
  pool.on("error", () => {}); // An idle connection ended; the next statement opens another.
  // One in use ended between two statements. The next one on it fails; without a listener, this process would.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

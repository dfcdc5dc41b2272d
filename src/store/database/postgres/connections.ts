import pg from "pg";
import { READ_AS_SQLITE } from "./postgres-values.ts";

export interface DatabaseAddress {
  /** A `postgres://` address with user, password and database. */
  readonly url: string;
  /** The time limit of a statement and of the wait for a connection, in milliseconds. */
  readonly timeoutMs: number;
  /** How long a statement waits for a lock, in milliseconds. Without it, up to `timeoutMs`. */
  readonly lockWaitMs?: number;
}

/** After this idle time within a transaction, PostgreSQL considers a server cut off and frees its locks. */
const IDLE_IN_TRANSACTION_MS = 2_000;
/** How long the reply to a statement cancelled by PostgreSQL may take, in milliseconds. */
const ANSWER_MS = 500;
const IDLE_MS = 60_000;
const KEEP_ALIVE_MS = 5_000;

/** Opens connections on demand, up to `max`. Every wait for them is limited. */
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
  // A connection in use ended; its next statement fails. Without a listener, this process would crash.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

import type { Setting } from "../setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** PostgreSQL, in place of a file on this machine. */
export const DATABASE_SETTINGS = {
  databaseUrl: {
    name: "DATABASE_URL",
    section: "Storage",
    kind: "secret",
    default: null,
    defaultText: "none: SQLite, in DATABASE_FILE",
    text: "Address of a PostgreSQL database, such as postgres://user:password@host/antiphon?sslmode=verify-full. With it, any number of servers on any number of machines can share what is stored.",
  },
  busUrl: {
    name: "BUS_URL",
    section: "Storage",
    kind: "secret",
    default: null,
    defaultText: "none: LISTEN and NOTIFY of PostgreSQL",
    text: "Address of a Redis or Valkey over which servers of one PostgreSQL database tell each other what happens, such as rediss://user:password@host. It stores nothing there but counts of rates, and while it is away readers on other servers are a second behind and each server counts for itself. Recommended from three servers on, and needed behind a pooler that passes no notifications on, such as PgBouncer in transaction mode.",
  },
  databasePoolMax: {
    name: "DATABASE_POOL_MAX",
    section: "Storage",
    kind: "integer",
    default: 8,
    min: 2,
    max: 100,
    text: "How many connections each process opens to PostgreSQL, besides two for commits and its lease.",
  },
  databaseTimeoutMs: {
    name: "DATABASE_TIMEOUT_MS",
    section: "Storage",
    kind: "duration",
    default: 5 * SECOND,
    min: 100,
    max: MINUTE,
    text: "How long PostgreSQL may take for a statement, and for taking a connection. After that, requests fail with 503.",
  },
  migrate: {
    name: "MIGRATE",
    section: "Storage",
    kind: "choice",
    default: "auto",
    choices: ["auto", "check"],
    text: "auto: a starting server brings the tables in PostgreSQL up to date, one server after the other; check: it refuses to start until `antiphon migrate` has done so.",
  },
  leaseMs: {
    name: "LEASE_MS",
    section: "Storage",
    kind: "duration",
    default: 15 * SECOND,
    min: 3 * SECOND,
    max: 10 * MINUTE,
    text: "How long a server that does not reach PostgreSQL keeps the responses it makes. After that, other servers take them over.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

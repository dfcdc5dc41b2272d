import type { Setting } from "../setting.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** PostgreSQL instead of a file on this machine. */
export const DATABASE_SETTINGS = {
  databaseUrl: {
    name: "DATABASE_URL",
    section: "Storage",
    kind: "secret",
    default: null,
    defaultText: "none: SQLite, in DATABASE_FILE",
    text: "Address of a PostgreSQL database, such as postgres://user:password@host/antiphon?sslmode=verify-full. Any number of servers on any number of machines can share it.",
  },
  busUrl: {
    name: "BUS_URL",
    section: "Storage",
    kind: "secret",
    default: null,
    defaultText: "none: LISTEN and NOTIFY of PostgreSQL",
    text: "Address of a Redis or Valkey that relays events between servers of one PostgreSQL database, such as rediss://user:password@host. It stores only rate counters. While it is down, readers on other servers are a second behind and each server counts rates alone. Recommended from three servers on, and required behind a pooler that does not relay notifications, such as PgBouncer in transaction mode.",
  },
  databasePoolMax: {
    name: "DATABASE_POOL_MAX",
    section: "Storage",
    kind: "integer",
    default: 8,
    min: 2,
    max: 100,
    text: "Connections of each process to PostgreSQL, besides two for commits and its lease.",
  },
  databaseTimeoutMs: {
    name: "DATABASE_TIMEOUT_MS",
    section: "Storage",
    kind: "duration",
    default: 5 * SECOND,
    min: 100,
    max: MINUTE,
    text: "How long PostgreSQL may take for a statement, or to accept a connection. After that, requests fail with 503.",
  },
  migrate: {
    name: "MIGRATE",
    section: "Storage",
    kind: "choice",
    default: "auto",
    choices: ["auto", "check"],
    text: "auto: a starting server updates the tables in PostgreSQL, one server at a time; check: it refuses to start until `antiphon migrate` has updated them.",
  },
  leaseMs: {
    name: "LEASE_MS",
    section: "Storage",
    kind: "duration",
    default: 15 * SECOND,
    min: 3 * SECOND,
    max: 10 * MINUTE,
    text: "How long a server that cannot reach PostgreSQL keeps its responses. After that, other servers take them over.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

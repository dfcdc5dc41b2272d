import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { PostgresServer } from "../../tests/services/postgres-server.ts";
import type { RedisServer } from "../../tests/services/redis-server.ts";
import { cpuOfTree } from "./processes.ts";
import type { Server } from "./servers.ts";

/** What the programs of a cluster have spent so far. Processor time is in milliseconds. */
export interface Spending {
  readonly nodes: number;
  readonly database: number;
  readonly broker: number;
  readonly commits: number;
  /** Bytes of the write-ahead log. */
  readonly logBytes: number;
}

export interface Spenders {
  readonly nodes: readonly Server[];
  /** Null if the node has a SQLite of its own. */
  readonly database: { readonly server: PostgresServer; readonly url: string } | null;
  readonly broker: RedisServer | null;
}

/** PostgreSQL adds up what its processes did about once a second. */
const COUNTED_AFTER_MS = 1_200;
const COUNTS = `select sum(xact_commit)::float8 as commits, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes
  from pg_stat_database where datname = current_database()`;

/** What `work` costs. What the cluster does anyway while it rests is part of it. */
export async function spendingOf<Result>(
  spenders: Spenders,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly spent: Spending }> {
  const before = await spentSoFar(spenders);
  const result = await work();
  const after = await spentSoFar(spenders);
  const spent = {
    nodes: after.nodes - before.nodes,
    database: after.database - before.database,
    broker: after.broker - before.broker,
    commits: after.commits - before.commits,
    logBytes: after.logBytes - before.logBytes,
  };
  return { result, spent };
}

async function spentSoFar({ nodes, database, broker }: Spenders): Promise<Spending> {
  const cpu = {
    nodes: nodes.reduce((sum, { pid }) => sum + cpuOfTree(pid), 0),
    database: database === null ? 0 : cpuOfTree(database.server.pid()),
    broker: broker === null ? 0 : cpuOfTree(broker.pid()),
  };
  if (database === null) return { ...cpu, commits: 0, logBytes: 0 };
  await sleep(COUNTED_AFTER_MS);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ commits: number; bytes: number }>(COUNTS);
  await client.end();
  return { ...cpu, commits: rows[0]?.commits ?? Number.NaN, logBytes: rows[0]?.bytes ?? Number.NaN };
}

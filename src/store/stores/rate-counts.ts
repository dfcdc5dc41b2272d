import type { Pool } from "pg";
import type { CommonCounts, Count, CountChange } from "../../rate-limits/ports.ts";
import { openPostgresPool } from "../database/postgres/connections.ts";

/** Separate connections: counting and requests never wait for each other. */
const CONNECTIONS_MAX = 2;
const ANSWER_MS_MAX = 1000;
const CLEANING_INTERVAL_MS = 600_000;

const CHANGE = {
  name: "change-rate-counts",
  text: "select place, is_taken, now_used, now_left from change_rate_counts($1, $2, $3, $4, $5, $6, $7) order by place",
};
/** Counters that cannot cause a refusal any more. */
const CLEAN = "delete from rate_counts where ends_at < now() - interval '1 hour'";

interface ChangedRow {
  /** 0 or 1. */
  readonly is_taken: number;
  readonly now_used: number;
  readonly now_left: number;
}

/** The counters of rate limits in PostgreSQL, one statement per call. */
export class PostgresCounts implements CommonCounts {
  readonly #pool: Pool;
  readonly #cleaning: NodeJS.Timeout;

  constructor(url: string) {
    this.#pool = openPostgresPool({ url, timeoutMs: ANSWER_MS_MAX }, CONNECTIONS_MAX);
    this.#cleaning = setInterval(() => void this.#pool.query(CLEAN).catch(() => {}), CLEANING_INTERVAL_MS).unref();
  }

  async change(changes: readonly CountChange[]): Promise<readonly Count[]> {
    const values = [
      changes.map(({ name }) => name),
      changes.map(({ kind }) => kind),
      changes.map(({ amount }) => amount),
      changes.map(({ limit }) => limit),
      changes.map(({ periodMs }) => periodMs),
      changes.map(({ refusalMs }) => refusalMs),
      changes.map(({ leftMsMax }) => Math.ceil(leftMsMax)),
    ];
    const { rows } = await this.#pool.query<ChangedRow>({ ...CHANGE, values });
    return rows.map((row) => ({ taken: row.is_taken === 1, used: row.now_used, leftMs: row.now_left }));
  }

  async close(): Promise<void> {
    clearInterval(this.#cleaning);
    await this.#pool.end();
  }
}

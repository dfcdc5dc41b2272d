import { setTimeout as sleep } from "node:timers/promises";
import { StoreSpoilt } from "@antiphon/domain/storage.ts";
import { Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { StoreBusy } from "../../../runs/ports/store-faults.ts";
import type { Database } from "../schema.ts";
import { type DatabaseAddress, openPostgresPool } from "./connections.ts";
import { buildLargeIndexes } from "./large-indexes.ts";
import { allTables } from "./migrations/0001-all-tables.ts";
import { rateCounts } from "./migrations/0002-rate-counts.ts";
import { inspectionInPostgres } from "./migrations/0003-inspection.ts";
import { callOutcomesInPostgres } from "./migrations/0004-call-outcomes.ts";
import { suspendedRunsInPostgres } from "./migrations/0005-suspended-runs.ts";
import { facesInPostgres } from "./migrations/0006-faces.ts";
import { wordsOfFilesInPostgres } from "./migrations/0007-words-of-files.ts";
import { usageInPostgres } from "./migrations/0008-usage.ts";
import { createKeysInPostgres } from "./migrations/0009-create-keys.ts";
import { skillsInPostgres } from "./migrations/0010-skills.ts";
import { webhooksInPostgres } from "./migrations/0011-webhooks.ts";
import { createAnswersInPostgres } from "./migrations/0012-create-answers.ts";
import { redoLogsInPostgres } from "./migrations/0014-redo-logs.ts";
import { batchesInPostgres } from "./migrations/0015-batches.ts";
import { callAttemptsInPostgres } from "./migrations/0016-call-attempts.ts";
import { pausedAndSteeredInPostgres } from "./migrations/0017-paused-and-steered.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { UnfitTables } from "./unfit-tables.ts";

/**
 * All migrations by name. They run in the order of their names and are never edited once released. A migration only
 * adds, so that servers of the previous release keep working. A removal comes one release later, and sets
 * `schema_compatibility.compatible_from` to the number of the first migration whose programs work without the removed
 * parts.
 */
export const POSTGRES_MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-all-tables": allTables,
  "0002-rate-counts": rateCounts,
  "0003-inspection": inspectionInPostgres,
  "0004-call-outcomes": callOutcomesInPostgres,
  "0005-suspended-runs": suspendedRunsInPostgres,
  "0006-faces": facesInPostgres,
  "0007-words-of-files": wordsOfFilesInPostgres,
  "0008-usage": usageInPostgres,
  "0009-create-keys": createKeysInPostgres,
  "0010-skills": skillsInPostgres,
  "0011-webhooks": webhooksInPostgres,
  "0012-create-answers": createAnswersInPostgres,
  "0014-redo-logs": redoLogsInPostgres,
  "0015-batches": batchesInPostgres,
  "0016-call-attempts": callAttemptsInPostgres,
  "0017-paused-and-steered": pausedAndSteeredInPostgres,
};

/** The time limit of a migration's statement, in milliseconds; it may copy a table. */
const MIGRATION_MS = 3_600_000;
/** How long a migration waits for a table in use before it lets servers continue and retries. */
const LOCK_WAIT_MS = 2_000;
const TRIES_MAX = 20;
const RETRY_MS = 1_000;

/**
 * Runs all missing migrations, or none if one fails; several processes take turns. Resolves to their number. Throws
 * `UnfitTables` if the tables are too new for this program.
 */
export async function migratePostgres(url: string): Promise<number> {
  const count = await withMigrator({ url, lockWaitMs: LOCK_WAIT_MS }, migrateAll);
  // Building waits for transactions of servers without blocking them, so it may take long.
  await withMigrator({ url }, buildLargeIndexes);
  return count;
}

async function migrateAll(db: Kysely<Database>): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    if ((await findMissing(db)).length === 0) return 0;
    const { error, results = [] } = await migratorOf(db).migrateToLatest();
    if (error === undefined) return results.length;
    if (error instanceof StoreSpoilt) throw error;
    if (!(error instanceof StoreBusy)) await findMissing(db); // A newer program may have been faster.
    if (!(error instanceof StoreBusy)) throw new Error("The database could not be migrated.", { cause: error });
    if (tries === TRIES_MAX) throw error;
    await sleep(RETRY_MS);
  }
}

/** Throws `UnfitTables` unless the tables are up to date. */
export async function checkTables(address: DatabaseAddress): Promise<void> {
  const missing = await withDatabase(address, findMissing);
  if (missing.length > 0)
    throw new UnfitTables("Its tables are older than this program, and MIGRATE is check. Run antiphon migrate first.");
}

function withMigrator<Result>(
  address: Omit<DatabaseAddress, "timeoutMs">,
  use: (db: Kysely<Database>) => Promise<Result>,
): Promise<Result> {
  return withDatabase({ ...address, timeoutMs: MIGRATION_MS }, use);
}

async function withDatabase<Result>(
  address: DatabaseAddress,
  use: (db: Kysely<Database>) => Promise<Result>,
): Promise<Result> {
  const db = new Kysely<Database>({ dialect: postgresDialect(openPostgresPool(address, 1)) });
  try {
    return await use(db);
  } finally {
    await db.destroy();
  }
}

function migratorOf(db: Kysely<Database>): Migrator {
  return new Migrator({
    db,
    provider: { getMigrations: async () => POSTGRES_MIGRATIONS },
    migrationTableName: "migrations",
    migrationLockTableName: "migrations_lock",
  });
}

/** The migrations still to run. None if a newer program ran others and this one can still use the tables. */
async function findMissing(db: Kysely<Database>): Promise<readonly string[]> {
  const own = Object.keys(POSTGRES_MIGRATIONS);
  const ran = await findNames(db);
  const missing = own.filter((name) => !ran.includes(name));
  if (ran.every((name) => own.includes(name))) return missing;
  const from = await findCompatibleFrom(db);
  if (missing.length === 0 && from <= own.length) return [];
  throw new UnfitTables(`Its tables are too new for this program: it would need migration ${from} or a later one.`);
}

async function findNames(db: Kysely<Database>): Promise<readonly string[]> {
  const { rows: nameRows } = await sql<{ readonly name: string | null }>`
    select to_regclass('migrations')::text as name`.execute(db);
  if (nameRows[0]?.name == null) return [];
  const { rows } = await sql<{ readonly name: string }>`select name from migrations`.execute(db);
  return rows.map(({ name }) => name);
}

async function findCompatibleFrom(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ readonly number: number }>`
    select max(compatible_from) as number from schema_compatibility`.execute(db);
  return rows[0]?.number ?? 1;
}

import { Kysely } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { StoreBusy, StoreSpoilt } from "../../responses-api/ports.ts";
import type { Database } from "../database/schema.ts";
import { openPostgresPool } from "./connections.ts";
import { allTables } from "./migrations/0001-all-tables.ts";
import { postgresDialect } from "./postgres-dialect.ts";

/** All migrations by name. They run in the order of their names and are never edited once released. */
export const POSTGRES_MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-all-tables": allTables,
};

/** A statement of a migration may take this long, since it may copy a table. */
const MIGRATION_MS = 3_600_000;

/** Runs all missing migrations, or none if one fails. Throws if the database is newer than this program. */
export async function migratePostgres(url: string): Promise<void> {
  const db = new Kysely<Database>({ dialect: postgresDialect(openPostgresPool({ url, timeoutMs: MIGRATION_MS }, 1)) });
  try {
    const migrator = new Migrator({
      db,
      provider: { getMigrations: async () => POSTGRES_MIGRATIONS },
      migrationTableName: "migrations",
      migrationLockTableName: "migrations_lock",
    });
    const { error } = await migrator.migrateToLatest();
    if (error instanceof StoreSpoilt || error instanceof StoreBusy) throw error;
    if (error !== undefined) throw new Error("The database could not be migrated.", { cause: error });
  } finally {
    await db.destroy();
  }
}

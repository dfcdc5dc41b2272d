import { loadConfig } from "../config/load-config.ts";
import { explainedRemote, openConfiguredStore } from "../servers/open-configured-store.ts";
import { migratePostgres } from "../store/database/postgres/migrate-postgres.ts";

/** Runs `migrate`: updates the tables of the configured database and reports the migrations. */
export async function runMigrate(...args: Parameters<typeof loadConfig>): Promise<string> {
  const config = loadConfig(...args);
  if (config.databaseUrl === null) {
    await (await openConfiguredStore(config)).close();
    return "The tables are up to date.";
  }
  const count = await migratePostgres(config.databaseUrl.reveal()).catch((error: unknown) => {
    throw explainedRemote(error);
  });
  return `The tables are up to date; migrations run: ${count}.`;
}

import { StoreSpoilt } from "@antiphon/domain/storage.ts";
import type { Kysely } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { StoreBusy } from "../../../runs/ports/store-faults.ts";
import type { Database } from "../schema.ts";
import { firstTables } from "./migrations/0001-first-tables.ts";
import { workers } from "./migrations/0002-workers.ts";
import { conversations } from "./migrations/0003-conversations.ts";
import { files } from "./migrations/0004-files.ts";
import { keysAndExpiry } from "./migrations/0005-keys-and-expiry.ts";
import { runRestarts } from "./migrations/0006-run-restarts.ts";
import { keyEnds } from "./migrations/0007-key-ends.ts";
import { whatIsReferredTo } from "./migrations/0008-what-is-referred-to.ts";
import { ownerUsage } from "./migrations/0009-owner-usage.ts";
import { responseNumbers } from "./migrations/0010-response-numbers.ts";
import { keyTools } from "./migrations/0011-key-tools.ts";
import { toolExchanges } from "./migrations/0012-tool-exchanges.ts";
import { toolTurns } from "./migrations/0013-tool-turns.ts";
import { vectorStores } from "./migrations/0014-vector-stores.ts";
import { containers } from "./migrations/0015-containers.ts";
import { inspection } from "./migrations/0016-inspection.ts";
import { continuedResponses } from "./migrations/0017-continued-responses.ts";
import { callOutcomes } from "./migrations/0018-call-outcomes.ts";
import { suspendedRuns } from "./migrations/0019-suspended-runs.ts";
import { faces } from "./migrations/0020-faces.ts";
import { wordsOfFiles } from "./migrations/0021-words-of-files.ts";
import { usage } from "./migrations/0022-usage.ts";
import { createKeys } from "./migrations/0023-create-keys.ts";
import { skills } from "./migrations/0024-skills.ts";
import { webhooks } from "./migrations/0025-webhooks.ts";
import { createAnswers } from "./migrations/0026-create-answers.ts";
import { redoLogs } from "./migrations/0028-redo-logs.ts";
import { batches } from "./migrations/0029-batches.ts";
import { callAttempts } from "./migrations/0030-call-attempts.ts";
import { pausedAndSteered } from "./migrations/0031-paused-and-steered.ts";

/** All migrations by name. They run in the order of their names and are never edited once released. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-first-tables": firstTables,
  "0002-workers": workers,
  "0003-conversations": conversations,
  "0004-files": files,
  "0005-keys-and-expiry": keysAndExpiry,
  "0006-run-restarts": runRestarts,
  "0007-key-ends": keyEnds,
  "0008-what-is-referred-to": whatIsReferredTo,
  "0009-owner-usage": ownerUsage,
  "0010-response-numbers": responseNumbers,
  "0011-key-tools": keyTools,
  "0012-tool-exchanges": toolExchanges,
  "0014-vector-stores": vectorStores,
  "0013-tool-turns": toolTurns,
  "0015-containers": containers,
  "0016-inspection": inspection,
  "0017-continued-responses": continuedResponses,
  "0018-call-outcomes": callOutcomes,
  "0019-suspended-runs": suspendedRuns,
  "0020-faces": faces,
  "0021-words-of-files": wordsOfFiles,
  "0022-usage": usage,
  "0023-create-keys": createKeys,
  "0024-skills": skills,
  "0025-webhooks": webhooks,
  "0026-create-answers": createAnswers,
  "0028-redo-logs": redoLogs,
  "0029-batches": batches,
  "0030-call-attempts": callAttempts,
  "0031-paused-and-steered": pausedAndSteered,
};

/** Runs all missing migrations, or none if one fails. Throws if the database is newer than this program. */
export async function migrate(db: Kysely<Database>): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => MIGRATIONS },
    migrationTableName: "migrations",
    migrationLockTableName: "migrations_lock",
  });
  const { error } = await migrator.migrateToLatest();
  if (error instanceof StoreSpoilt || error instanceof StoreBusy) throw error;
  if (error !== undefined) throw new Error("The database could not be migrated.", { cause: error });
}

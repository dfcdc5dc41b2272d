/** A process started by `checkpoints.test.ts`: stores a large text, then kills itself. */
import { Kysely, sql } from "kysely";
import { sqliteDialect } from "./sqlite.ts";

const [, , file = ":memory:", length = "0"] = process.argv;

const db = new Kysely({ dialect: sqliteDialect(file, { lockWaitMs: 0, sync: "normal", onSpoilt: () => {} }) });
await sql`create table texts (text text)`.execute(db);
await sql`insert into texts values (${"x".repeat(Number(length))})`.execute(db);
process.kill(process.pid, "SIGKILL");

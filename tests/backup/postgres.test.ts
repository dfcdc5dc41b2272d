import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { createDatabase } from "../services/databases.ts";
import { postgresProgram, startPostgres, whyNoPostgres } from "../services/postgres-server.ts";
import { verifies } from "../verifies.ts";
import { answersOf, keepBusy, storeSome } from "./stored-things.ts";

const TEST_TIMEOUT_MS = 240_000;
/** What is stored before the backup begins, of each kind. */
const STORED = 10;
const whyNot = whyNoPostgres();

test.skipIf(whyNot !== undefined)(
  `a dump of PostgreSQL under load, as antiphon backup advises, restores to the same answers${whyNot === undefined ? "" : ` (skipped: ${whyNot})`}`,
  async () => {
    verifies("operations.backup.postgres");
    const folder = temporaryFolder();
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const [from, to] = [await createDatabase(postgres.url()), await createDatabase(postgres.url())];
    const [data, dump] = [join(folder, "data"), join(folder, "antiphon.dump")];
    const server = await startChildServer({ env: { DATABASE_URL: from, DATA_DIR: data } });
    const stored = await Promise.all(Array.from({ length: STORED }, (_, number) => storeSome(server, number)));
    const work = keepBusy(server);
    await run("pg_dump", "--format=custom", "--file", dump, from);
    await copyFiles(join(data, "files"), join(folder, "restored/files"));
    const { answered, failed } = await work.end();
    expect([answered > 0, failed]).toEqual([true, []]);
    const before = await answersOf(server, stored.flat());

    await run("pg_restore", "--clean", "--if-exists", "--no-owner", "--dbname", to, dump);
    const other = await startChildServer({ env: { DATABASE_URL: to, DATA_DIR: join(folder, "restored") } });
    expect(await answersOf(other, stored.flat())).toEqual(before);
  },
  TEST_TIMEOUT_MS,
);

/** Some of the files are deleted meanwhile. */
async function copyFiles(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const copies = (await readdir(from)).map((name) => copyFile(join(from, name), join(to, name)));
  await Promise.allSettled(copies);
}

async function run(name: "pg_dump" | "pg_restore", ...args: readonly string[]): Promise<void> {
  await promisify(execFile)(postgresProgram(name), [...args]);
}

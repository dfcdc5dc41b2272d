import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, cp, mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { makeBackup, removeOldBackups, timedName } from "../../src/store/backup/make-backup.ts";
import { restoreBackup } from "../../src/store/backup/restore-backup.ts";
import { openStore } from "../../src/store/open-store.ts";
import { startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { answersOf, keepBusy, storeSome } from "./stored-things.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
/** Each server and each command takes a second of processor time to start. */
const TEST_TIMEOUT_MS = 120_000;
/** What is stored before the backup begins, of each kind. */
const STORED = 20;

describe("a backup", { timeout: TEST_TIMEOUT_MS }, () => {
  test("made under load holds what was stored before it, and restored data give the same answers", async () => {
    verifies("operations.backup.restores");
    const folder = temporaryFolder();
    const server = await startChildServer({ env: { DATA_DIR: join(folder, "data") } });
    const paths = (await Promise.all(Array.from({ length: STORED }, (_, number) => storeSome(server, number)))).flat();
    const work = keepBusy(server);
    const made = await run(["backup", join(folder, "backup"), "--data-dir", join(folder, "data")]);
    const { answered, failed } = await work.end();
    expect(made).toMatchObject({ code: 0, output: `${join(folder, "backup")}\n` });
    expect(answered).toBeGreaterThan(0);
    expect(failed).toEqual([]);
    const before = await answersOf(server, paths);

    const restored = join(folder, "restored");
    expect(await run(["restore", join(folder, "backup"), "--data-dir", restored])).toMatchObject({ code: 0 });
    const other = await startChildServer({ env: { DATA_DIR: restored } });
    expect(await answersOf(other, paths)).toEqual(before);
    const [first] = paths;
    const body = { model: "antiphon-built-in", input: "Say more", previous_response_id: first?.split("/").at(-1) };
    expect((await other.post("/v1/responses", body)).status).toBe(200);
  });

  test("that was changed is not restored, and data in use or not to be replaced stay as they are", async () => {
    verifies("operations.backup.checked");
    const folder = temporaryFolder();
    const [data, backup] = [join(folder, "data"), join(folder, "backup")];
    const target = { databaseFile: join(data, "antiphon.db"), dataDir: data, filesRoot: data };
    const options = { withKeys: true, version: "1", elsewhere: [] };
    const server = await startChildServer({ env: { DATA_DIR: data } });
    const [path = ""] = await storeSome(server, 1);
    const made = await makeBackup(target, backup, options);
    expect(made).toMatchObject({ files: 3, notIncluded: [] });
    await expect(makeBackup(target, backup, options)).rejects.toThrow("exists already");
    await expect(restoreBackup(backup, target, false)).rejects.toThrow("--replace moves existing data aside");
    await expect(restoreBackup(backup, target, true)).rejects.toThrow("is in use");
    const answer = await answersOf(server, [path]);
    expect(await server.stop()).toBe(0);

    const spoilt = join(folder, "spoilt");
    await cp(backup, spoilt, { recursive: true });
    const upload = join("files", (await readdir(join(backup, "files")))[0] ?? "");
    await appendFile(join(spoilt, upload), "more");
    await expect(restoreBackup(spoilt, target, true)).rejects.toThrow(`${upload} has other contents`);
    await rm(join(spoilt, upload));
    await expect(restoreBackup(spoilt, target, true)).rejects.toThrow(`${upload} is missing`);
    await appendFile(join(spoilt, "SHA256SUMS"), "more");
    await expect(restoreBackup(spoilt, target, true)).rejects.toThrow("SHA256SUMS has other contents");

    const { movedTo, hasKeys } = await restoreBackup(backup, target, true);
    expect(hasKeys).toBe(true);
    expect(movedTo.map((moved) => basename(moved).split(".before-")[0])).toEqual(["files", "seal-key", "antiphon.db"]);
    const again = await startChildServer({ env: { DATA_DIR: data } });
    expect(await answersOf(again, [path])).toEqual(answer);
  });

  test("by a later version is not restored, nor a folder that is none, and a failed restore leaves all as it was", async () => {
    verifies("operations.backup.checked");
    const folder = temporaryFolder();
    const [backup, target] = [join(folder, "backup"), placesIn(join(folder, "data"))];
    await mkdir(target.dataDir);
    await (await openStore({ file: target.databaseFile })).close();
    await makeBackup(target, backup, OPTIONS);
    await expect(restoreBackup(join(folder, "none"), target, true)).rejects.toThrow("There is no folder");
    await expect(restoreBackup(target.dataDir, target, true)).rejects.toThrow("it has no backup.json");

    const later = placesIn(join(folder, "later"));
    await cp(target.dataDir, later.dataDir, { recursive: true });
    const database = new DatabaseSync(later.databaseFile);
    database.exec("insert into migrations (name, timestamp) values ('9999-from-the-future', '')");
    database.close();
    await makeBackup(later, join(folder, "backup-of-later"), { ...OPTIONS, version: "99.0.0" });
    const tooNew = restoreBackup(join(folder, "backup-of-later"), target, true);
    await expect(tooNew).rejects.toThrow("of version 99.0.0, whose tables this version does not know");

    // SQLite cannot open a folder, after everything was checked.
    const blocked = { ...target, databaseFile: join(folder, "later") };
    await writeFile(join(target.dataDir, "seal-key"), "older");
    await expect(restoreBackup(backup, blocked, true)).rejects.toThrow("Nothing was restored or changed");
    expect(await readFile(join(target.dataDir, "seal-key"), "utf8")).toBe("older");
    expect((await readdir(folder)).toSorted()).toEqual(["backup", "backup-of-later", "data", "later"]);
  });

  test("that cannot be written, or is interrupted, leaves nothing, and says why", async () => {
    verifies("operations.backup.checked");
    const folder = temporaryFolder();
    const target = placesIn(folder);
    await (await openStore({ file: target.databaseFile })).close();
    await writeFile(join(folder, "file"), "");
    const inFile = makeBackup(target, join(folder, "file/backup"), OPTIONS);
    await expect(inFile).rejects.toThrow(/^No backup was made: ENOTDIR: not a directory/);
    const aborted = makeBackup(target, join(folder, "backup"), { ...OPTIONS, signal: AbortSignal.abort() });
    await expect(aborted).rejects.toThrow("aborted");
    const damaged = { ...target, databaseFile: join(folder, "damaged.db") };
    const bytes = await readFile(target.databaseFile);
    await writeFile(damaged.databaseFile, bytes.fill(7, 8192, 40_960));
    await expect(makeBackup(damaged, join(folder, "backup"), OPTIONS)).rejects.toThrow(/database.*(damaged|malformed)/);
    expect((await readdir(folder)).filter((name) => name.startsWith("backup"))).toEqual([]);
  });

  test("can leave the keys out, and the newest of those named by their time are kept", async () => {
    verifies("operations.backup.checked");
    const folder = temporaryFolder();
    const store = await openStore({ file: join(folder, "antiphon.db") });
    await store.close();
    for (const time of ["2026-01-02T03:04:05Z", "2026-01-03T03:04:05Z"]) {
      const target = { databaseFile: join(folder, "antiphon.db"), dataDir: folder, filesRoot: folder };
      const options = { withKeys: false, version: "1", elsewhere: ["The moon."] };
      const made = await makeBackup(target, join(folder, timedName(new Date(time))), options);
      expect(made.notIncluded).toEqual(["The moon.", expect.stringContaining("seal-key")]);
    }
    const [killed, underWay] = ["antiphon-2026-01-01T030405Z.partial-1", "antiphon-2026-01-05T030405Z.partial-2"];
    for (const name of [killed, underWay]) await mkdir(join(folder, name));
    await utimes(join(folder, killed), 0, 0);
    expect(await removeOldBackups(folder, 1)).toEqual(["antiphon-2026-01-02T030405Z", killed]);
  });
});

const OPTIONS = { withKeys: true, version: "1", elsewhere: [] };

function placesIn(dataDir: string) {
  return { databaseFile: join(dataDir, "antiphon.db"), dataDir, filesRoot: dataDir };
}

/** Runs a command in a folder without settings. */
async function run(args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: tmpdir(), env: { PATH: process.env["PATH"] } });
  let [output, complaints] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  const [code] = await once(child, "close");
  return { code: Number(code), output, complaints };
}

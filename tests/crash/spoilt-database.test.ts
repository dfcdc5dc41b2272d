import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { MODEL } from "../responses/check-refusal.ts";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");

/** The output and exit code of the command on a data folder that it cannot use. */
async function runOn(folder: string, ...args: readonly string[]) {
  const env = { PATH: process.env["PATH"], DATA_DIR: folder, PORT: "0", STT_PORT: "0", SPEECH_ENGINE: "none" };
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += String(text)));
  await once(child, "close");
  return { code: child.exitCode, said };
}

/** Writes garbage over the first page of a table. */
async function spoilTable(folder: string, table: string): Promise<void> {
  const [row] = await query(folder, `select rootpage from sqlite_schema where name = '${table}'`);
  const [size] = await query(folder, "pragma page_size");
  const pageBytes = Number(size?.["page_size"]);
  const file = openSync(join(folder, "antiphon.db"), "r+");
  writeSync(file, Buffer.alloc(pageBytes, 0xa5), 0, pageBytes, (Number(row?.["rootpage"]) - 1) * pageBytes);
  closeSync(file);
}

test.each([[[]], [["keys", "list"]]])(
  "a start on a file that is no database says so and what to do, and does not change the file: %j",
  async (args) => {
    verifies("state.spoilt.clear-at-start");
    const folder = temporaryFolder();
    const file = join(folder, "antiphon.db");
    const bytes = Buffer.alloc(8_192, "this was a database once ");
    writeFileSync(file, bytes);
    const { code, said } = await runOn(folder, ...args);
    expect(code).toBe(3);
    expect(said).toContain("The database is damaged, or no SQLite database");
    expect(said).toContain(".recover");
    expect(said).not.toMatch(/\n\s+at /);
    expect(readFileSync(file)).toEqual(bytes);
  },
);

test("a database that proves damaged at run time is reported in the log and by /readyz, and readable data is served", async () => {
  verifies("state.spoilt.clear-at-run-time");
  const folder = temporaryFolder();
  const first = await startChildServer({ env: { DATA_DIR: folder } });
  const { id } = await readResponse(await first.post("/v1/responses", { model: MODEL, input: "Hi" }));
  await first.stop();
  await spoilTable(folder, "items");
  const second = await startChildServer({ env: { DATA_DIR: folder, LOG_LEVEL: "error" } });
  expect((await second.fetch("/readyz")).status).toBe(200);
  const broken = await second.fetch(`/v1/responses/${id}/input_items`);
  expect(broken.status).toBe(500);
  expect(await broken.text()).not.toMatch(/sqlite|damaged|antiphon\.db/i);
  // The log is a pipe, so its line may arrive after the reply.
  await expect.poll(() => JSON.stringify(second.lines())).toContain("The database is damaged");
  expect((await second.fetch("/readyz")).status).toBe(503);
  expect((await second.fetch(`/v1/responses/${id}`)).status).toBe(200);
});

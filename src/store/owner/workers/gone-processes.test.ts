import { spawn } from "node:child_process";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { claimUnmade } from "../../claim-unmade.fixture.ts";
import { openTestStore, temporaryFile } from "../../store.fixture.ts";
import { aResponse, OURS } from "../../stored-shapes.fixture.ts";

/** A zombie: a process that has ended and that its parent never waits for. */
async function unburiedProcess(): Promise<number> {
  const parent = spawn("sh", ["-c", "true & echo $!; exec sleep 60"]);
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [line] = await once(parent.stdout, "data");
  return Number(String(line));
}

/** Whether a run counts as abandoned if this process made it. */
async function isLeftBy(pid: number, started: string | null): Promise<boolean> {
  const file = temporaryFile();
  const one = await openTestStore({ file });
  const other = await openTestStore({ file });
  await one.events.open({ owner: OURS, response: aResponse("resp_1"), inputItems: [] }, []);
  const database = new DatabaseSync(file);
  database
    .prepare("insert into workers select id + 1000, host, ?, expires_at, ?, task_version, 0 from workers")
    .run(pid, started);
  database.exec("update responses set worker = worker + 1000");
  database.close();
  return (await claimUnmade(other.ledger, 10)).length === 1;
}

test.runIf(process.platform === "linux")(
  "a process that nobody has asked for yet is gone, one that lives is not",
  async () => {
    verifies("state.crash.gone-processes");
    expect(await isLeftBy(await unburiedProcess(), null)).toBe(true);
    expect(await isLeftBy(process.ppid, null)).toBe(false);
  },
);

test.runIf(process.platform === "linux")("a process is gone when its number is another's now", async () => {
  verifies("state.crash.gone-processes");
  expect(await isLeftBy(process.ppid, "1")).toBe(true);
});

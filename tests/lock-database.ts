import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** Takes the right to write, says so, and keeps it until its input ends. */
const HOLDER = `
import { DatabaseSync } from "node:sqlite";
const database = new DatabaseSync(process.argv[1], { timeout: 5000 });
database.exec("begin immediate");
console.log("locked");
process.stdin.on("end", () => database.exec("commit")).resume();
`;

/**
 * Has another process lock a database, as a backup tool may. Resolves once it is locked, to what unlocks it; that
 * happens with the end of the test at the latest.
 */
export async function lockDatabase(file: string): Promise<() => Promise<void>> {
  const holder = spawn(process.execPath, ["--input-type=module", "--eval", HOLDER, file], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(holder, "exit");
  onTestFinished(() => void holder.kill("SIGKILL"));
  await Promise.race([once(holder.stdout, "data"), exited]);
  return async () => {
    holder.stdin.end();
    await exited;
  };
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** Takes the write lock, reports it, and keeps it until its input ends. */
const HOLDER = `
import { DatabaseSync } from "node:sqlite";
const database = new DatabaseSync(process.argv[1], { timeout: 5000 });
database.exec("begin immediate");
console.log("locked");
process.stdin.on("end", () => database.exec("commit")).resume();
`;

/**
 * Locks a database for writing from another process, as a backup tool may. Resolves once it is locked, with a function
 * that unlocks it. The end of the test unlocks it too.
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

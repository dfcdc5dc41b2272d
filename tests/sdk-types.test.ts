import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { verifies } from "./verifies.ts";

const run = promisify(execFile);
const COMPILE_MS_MAX = 60_000;

/** Compiles `tests/sdk-types.ts` and returns the compiler's errors in it. */
async function complaints(...options: string[]): Promise<string> {
  const root = new URL("..", import.meta.url).pathname;
  try {
    await run("node_modules/.bin/tsc", ["-p", "tests/sdk-types.tsconfig.json", ...options], { cwd: root });
    return "";
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
  }
}

test("our types and the official SDK's types are assignable in the required directions", {
  timeout: COMPILE_MS_MAX,
}, async () => {
  verifies("client.providers.swappable", "contract.parity.superset-of-reference");
  expect(await complaints()).toBe("");
});

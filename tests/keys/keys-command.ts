import { execFile } from "node:child_process";
import { join } from "node:path";
import { storeSettings } from "../kit/tested-store.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `antiphon keys …` in its own process, on the data of a server. */
export async function runKeys(dataDir: string, ...words: readonly string[]): Promise<Outcome> {
  const env = { PATH: process.env["PATH"] ?? "", DATA_DIR: dataDir, ...(await storeSettings(dataDir)) };
  return await new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, "keys", ...words],
      { env, cwd: join(dataDir, ".."), timeout: 15_000 },
      (_error, out, err) => resolve({ code: child.exitCode, out, err }),
    );
  });
}

/** The key that `keys create` prints. */
export async function makeKey(dataDir: string, ...words: readonly string[]): Promise<string> {
  const { code, out, err } = await runKeys(dataDir, "create", "--name", "test", ...words);
  if (code !== 0) throw new Error(err);
  return out.trim();
}

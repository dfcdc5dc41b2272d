import { spawn } from "node:child_process";
import { join } from "node:path";
import { cleanUp } from "../bench/clean-up.ts";

/** The server's own program. */
export const MAIN = join(import.meta.dirname, "../../src/main.ts");
export const KEY = "a-key-of-the-measurement";

export interface TrialServer {
  /** Has no trailing slash and no `/v1`. */
  readonly url: string;
  readonly stop: () => void;
}

/** Starts the server on this data folder. It ends with this process at the latest. */
export async function startTrialServer(
  dataDir: string,
  environment: Readonly<Record<string, string>>,
): Promise<TrialServer> {
  const own = { DATA_DIR: dataDir, API_KEYS: KEY, PORT: "0", STT_PORT: "0", SPEECH_ENGINE: "none" };
  const child = spawn(process.execPath, [MAIN], {
    cwd: dataDir,
    env: { ...process.env, ...own, FIND_LOCAL_DAEMON: "false", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = cleanUp(() => child.kill());
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  child.stdout.on("data", (bytes: Buffer) => {
    const url = /Responses API +(\S+)\/v1/.exec(bytes.toString())?.[1];
    if (url !== undefined) resolve(url);
  });
  return { url: await promise, stop };
}

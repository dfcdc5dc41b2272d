import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { SpeechEngine, Transcript, TranscriptionRequest } from "@antiphon/speech/recognition/speech-engine.ts";
import { BuildError, builtServer, checkServer } from "@antiphon/speech/recognition/whisper/process/build-server.ts";
import { WhisperEngine, type WhisperOptions } from "@antiphon/speech/recognition/whisper/whisper-engine.ts";
import { expect, onTestFinished } from "vitest";
import { type ToneModelOptions, toneWordsModel } from "../../scripts/fixture-model/tone-words.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { engineFolder } from "../../src/servers/choices/choose-speech.ts";
import { settled } from "../local-stt-server.ts";

const CACHE = join(import.meta.dirname, "../../.cache/speech");
const TONE_MODEL = "ggml-tone-words-fixture.bin";

/**
 * The real engine, built once and shared with `make start`; null, with a notice, if this machine cannot build it.
 * WHISPER_SERVER_PATH names an existing one.
 */
export async function whisperForTests(onProgress = (_percent: number | null): void => {}): Promise<string | null> {
  const never = new AbortController().signal;
  const program = process.env["WHISPER_SERVER_PATH"] ?? "";
  if (program !== "") {
    await checkServer(program, never);
    return program;
  }
  try {
    const folder = engineFolder(loadConfig(process.env, []));
    return (await builtServer({ folder, onProgress }, never)).program;
  } catch (error) {
    if (!(error instanceof BuildError && error.isMachineLacking)) throw error;
    console.warn(`Tests with the real speech engine are left out. ${error.message}.`);
    return null;
  }
}

/** A file of the model whose words are tones. */
export async function toneModelFile(options: ToneModelOptions = {}): Promise<string> {
  const bytes = toneWordsModel(options);
  const key = createHash("sha256").update(bytes).digest("hex");
  const folder = join(CACHE, "fixture-models", key.slice(0, 16));
  const path = join(folder, TONE_MODEL);
  if ((await readFile(path).catch(() => null))?.equals(bytes) === true) return path;
  await mkdir(folder, { recursive: true });
  await writeFile(`${path}.${process.pid}`, bytes);
  await rename(`${path}.${process.pid}`, path); // Other tests may be reading it.
  return path;
}

/** An engine with the tone model, ready; it ends with the test. */
export async function startToneEngine(program: string, options: Partial<WhisperOptions> = {}): Promise<WhisperEngine> {
  const engine = openEngine(program, await toneModelFile(), options);
  onTestFinished(() => engine.close());
  await settled(engine);
  return engine;
}

/** An engine with any model, still starting. The caller closes it. */
export function openEngine(program: string, modelPath: string, options: Partial<WhisperOptions> = {}): WhisperEngine {
  const engine = new WhisperEngine({
    program,
    buildFolder: CACHE,
    model: {
      path: modelPath,
      name: "",
      folder: CACHE,
      otherFolders: [],
      mayDownload: false,
      downloadUrl: "http://127.0.0.1:9",
      sha256: null,
    },
    threads: 1,
    window: "fitted",
    language: null,
    jobsMax: 64,
    log: silentLogger,
    ...options,
  });
  engine.start();
  return engine;
}

/** Requests the transcript of samples. */
export function hear(
  engine: SpeechEngine,
  samples: Int16Array,
  request: Partial<TranscriptionRequest> = {},
): Promise<Transcript> {
  return engine.transcribe(samples, {
    language: null,
    prompt: null,
    caller: null,
    urgency: "awaited",
    signal: new AbortController().signal,
    ...request,
  });
}

/** Process ids of the engines that a process has started. */
export async function enginePids(server = process.pid): Promise<number[]> {
  const processes = await Promise.all((await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(readProcess));
  const known = processes.filter((found) => found !== null);
  const guards = new Set(known.filter(({ parent }) => parent === server).map(({ pid }) => pid));
  return known.filter(({ name, parent }) => name === "whisper-server" && guards.has(parent)).map(({ pid }) => pid);
}

async function readProcess(pid: string): Promise<{ pid: number; name: string; parent: number } | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const [, name = "", state = "", parent = ""] = /^\d+ \((.*)\) (\w) (\d+) /s.exec(stat) ?? [];
  return state === "" || state === "Z" ? null : { pid: Number(pid), name, parent: Number(parent) };
}

/** Suspends the engine (SIGSTOP), so that requests stay unanswered until it is resumed or ends. */
export async function freeze(): Promise<{ goOn: () => void; kill: () => void }> {
  const pids = await enginePids();
  const send = (signal: NodeJS.Signals): void => {
    for (const pid of pids) process.kill(pid, signal);
  };
  if (pids.length === 0) throw new Error("there is no engine to suspend");
  send("SIGSTOP");
  await expect.poll(() => areStopped(pids)).toBe(true); // The signal reaches its threads some time later.
  return { goOn: () => send("SIGCONT"), kill: () => send("SIGKILL") };
}

/** Whether all threads of these processes are suspended. */
async function areStopped(pids: readonly number[]): Promise<boolean> {
  const threads = await Promise.all(
    pids.map(async (pid) => (await readdir(`/proc/${pid}/task`)).map((thread) => `/proc/${pid}/task/${thread}/stat`)),
  );
  const states = await Promise.all(threads.flat().map((file) => readFile(file, "utf8")));
  return states.every((stat) => /\) T /.test(stat));
}

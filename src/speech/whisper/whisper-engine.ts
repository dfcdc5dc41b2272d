import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "../../base/assert.ts";
import type { Logger } from "../../base/logger.ts";
import {
  type EngineFacts,
  type EngineStatus,
  type Sound,
  type SpeechEngine,
  SpeechError,
  type Transcript,
  type TranscriptionRequest,
} from "../speech-engine.ts";
import { BuildError, type BuiltServer, builtServer, checkServer } from "./build-server.ts";
import { DownloadError } from "./download.ts";
import type { EngineProcess } from "./engine-process.ts";
import { JobDesk } from "./job-desk.ts";
import { ModelFileError } from "./model-file.ts";
import {
  expectedSha256,
  type FoundModel,
  findModel,
  type ModelChoice,
  ModelMissing,
  modelName,
  sha256OfFile,
} from "./model-store.ts";
import { superviseEngine } from "./supervisor.ts";
import { Transcriber } from "./transcriber.ts";

export interface WhisperOptions {
  /** A `whisper-server` that is there; null: the one that `nodejs-whisper` brings is built. */
  readonly program: string | null;
  /** Where builds are kept. */
  readonly buildFolder: string;
  readonly model: ModelChoice;
  readonly threads: number;
  /** Whether the engine looks at no more than there is of a short sound, which is faster, or always at a whole window of 30 s. */
  readonly window: "fitted" | "full";
  /** Questions that may wait. */
  readonly jobsMax: number;
  /** Makes a file into samples of one channel, 16,000 a second. Rejects with `SpeechError` of the reason `refused`. */
  readonly readFile: (bytes: Uint8Array, signal: AbortSignal) => Promise<Int16Array>;
  readonly log: Logger;
}

/** Whoever starts offline should not have to start again. */
const DOWNLOAD_PAUSE_MS = 60_000;

const STOPPED = "The speech engine is being stopped";

/** Transcribes with whisper.cpp, in a child process that keeps the model in memory. It is built and its model downloaded if need be. */
export class WhisperEngine implements SpeechEngine {
  readonly #options: WhisperOptions;
  readonly #desk: JobDesk;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<(status: EngineStatus) => void>();
  #status: EngineStatus = { state: "loading" };
  #server: BuiltServer | null = null;
  #model: FoundModel | null = null;
  #modelSha256: string | null = null;
  #transcriber: Transcriber | null = null;
  #starts = 0;
  #running: Promise<void> | null = null;

  constructor(options: WhisperOptions) {
    this.#options = options;
    this.#desk = new JobDesk(options.jobsMax, options.log);
  }

  get name(): string {
    return `whisper.cpp with the model ${this.facts().model ?? "that is chosen"}`;
  }

  status(): EngineStatus {
    return this.#status;
  }

  watch(listener: (status: EngineStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  facts(): EngineFacts {
    const { model } = this.#options;
    return {
      engine: "whisper.cpp",
      engineVersion: this.#server?.version ?? null,
      model: modelName(model),
      modelPath: this.#model?.path ?? model.path,
      modelSha256: this.#modelSha256,
    };
  }

  restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  refusal(): SpeechError | null {
    if (this.#stopping.signal.aborted) return new SpeechError("unavailable", STOPPED);
    if (this.#status.state === "failed") return new SpeechError("failed", this.#status.reason);
    if (this.#transcriber === null) return new SpeechError("loading", notReady(this.#status));
    if (this.#desk.isFull) return new SpeechError("busy", "Too many recordings wait for the speech engine already");
    return null;
  }

  async transcribe(sound: Sound, request: TranscriptionRequest): Promise<Transcript> {
    request.signal.throwIfAborted();
    const refusal = this.refusal();
    if (refusal !== null) throw refusal;
    const transcriber = this.#transcriber;
    assert(transcriber !== null, "an engine that was never ready refuses everyone");
    if (sound.type === "samples") return transcriber.transcribeSamples(sound.samples, request);
    return transcriber.transcribeRecording(await this.#options.readFile(sound.bytes, request.signal), request);
  }

  /** Begins to build, download and load, and keeps the engine running from then on. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Sends everyone who waits away, and resolves once the child is gone. */
  async close(): Promise<void> {
    this.#stopping.abort(new SpeechError("unavailable", STOPPED));
    this.#desk.employ(null);
    this.#desk.dismissAll(new SpeechError("unavailable", STOPPED));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      const [server, model] = await this.#prepare(signal);
      void this.#checkModel(model, signal);
      await this.#keepRunning(server, model);
    } catch (error) {
      if (signal.aborted) return;
      const { log } = this.#options;
      log.error({ error }, "the speech engine cannot be started");
      this.#show({ state: "failed", reason: reasonOf(error) });
    }
  }

  /** Builds and downloads at the same time; of the two it shows the building first. */
  async #prepare(signal: AbortSignal): Promise<[BuiltServer, FoundModel]> {
    const doing: { build: EngineStatus | null; model: EngineStatus | null } = { build: null, model: null };
    const show = (news: Partial<typeof doing>): void => {
      Object.assign(doing, news);
      this.#show(doing.build ?? doing.model ?? { state: "loading" });
    };
    const failing = new AbortController(); // Nothing is downloaded for an engine that cannot be built.
    const either = AbortSignal.any([signal, failing.signal]);
    const both = [
      this.#findServer((build) => show({ build }), either),
      this.#findModel((model) => show({ model }), either),
    ] as const;
    try {
      [this.#server, this.#model] = await Promise.all(both);
      return [this.#server, this.#model];
    } catch (error) {
      failing.abort();
      await Promise.allSettled(both);
      throw error;
    }
  }

  async #findServer(show: (status: EngineStatus | null) => void, signal: AbortSignal): Promise<BuiltServer> {
    const { program, buildFolder } = this.#options;
    if (program !== null) {
      await checkServer(program, signal);
      return { program, version: null };
    }
    const onProgress = (percent: number | null): void => show({ state: "building", percent });
    const built = await builtServer({ folder: buildFolder, onProgress }, signal);
    show(null);
    return built;
  }

  async #findModel(show: (status: EngineStatus | null) => void, signal: AbortSignal): Promise<FoundModel> {
    const onProgress = (receivedBytes: number, totalBytes: number | null): void =>
      show({ state: "downloading", receivedBytes, totalBytes });
    for (;;) {
      try {
        const found = await findModel(this.#options.model, onProgress, signal);
        show(null);
        return found;
      } catch (error) {
        if (!(error instanceof DownloadError)) throw error;
        this.#options.log.warn({ error }, "the speech model could not be downloaded; it is tried again in a minute");
        show({ state: "failed", reason: error.message });
        await sleep(DOWNLOAD_PAUSE_MS, undefined, { signal });
      }
    }
  }

  async #keepRunning(server: BuiltServer, model: FoundModel): Promise<void> {
    const { threads, window, log } = this.#options;
    const transcriber = new Transcriber({ desk: this.#desk, shape: model.shape, window });
    this.#show({ state: "loading" });
    await superviseEngine(
      {
        command: { program: server.program, modelPath: model.path, threads },
        tryOut: (engine, signal) => transcriber.tryOut(engine, signal),
        onReady: (engine) => this.#ready(engine, transcriber),
        onRestart: () => {
          this.#desk.employ(null);
          if (this.#status.state !== "failed") this.#show({ state: "loading" });
        },
        onFailure: (reason) => {
          this.#desk.employ(null);
          this.#desk.dismissAll(new SpeechError("failed", reason));
          this.#show({ state: "failed", reason });
        },
        log,
      },
      this.#stopping.signal,
    );
  }

  #ready(engine: EngineProcess, transcriber: Transcriber): void {
    this.#starts += 1;
    this.#transcriber = transcriber;
    this.#show({ state: "ready" });
    this.#desk.employ(engine);
  }

  /** Reading a large file takes seconds, and nobody needs to wait for that. */
  async #checkModel(model: FoundModel, signal: AbortSignal): Promise<void> {
    try {
      this.#modelSha256 = await sha256OfFile(model.path, signal);
    } catch {
      return; // Whether the file can be read shows when the engine loads it.
    }
    const expected = expectedSha256(this.#options.model);
    if (expected !== null && expected !== this.#modelSha256)
      this.#options.log.warn(
        { path: model.path, sha256: this.#modelSha256, expected },
        "the speech model is not the published file of its name",
      );
  }

  #show(status: EngineStatus): void {
    if (JSON.stringify(status) === JSON.stringify(this.#status)) return;
    this.#status = status;
    for (const listener of this.#listeners) listener(status);
  }
}

function notReady(status: EngineStatus): string {
  switch (status.state) {
    case "building":
      return "The speech engine is being built";
    case "downloading":
      return "The speech model is being downloaded";
    case "failed":
      return status.reason;
    default:
      return "The speech model is being loaded";
  }
}

function reasonOf(error: unknown): string {
  const isKnown =
    error instanceof BuildError ||
    error instanceof DownloadError ||
    error instanceof ModelFileError ||
    error instanceof ModelMissing;
  return isKnown ? error.message : "The speech engine cannot be started, and the log says why";
}

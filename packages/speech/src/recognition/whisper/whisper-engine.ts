import { assert, assertNever } from "@antiphon/base/assert.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import {
  type EngineFacts,
  type EngineStatus,
  type SpeechEngine,
  SpeechError,
  type Transcript,
  type TranscriptionRequest,
} from "../speech-engine.ts";
import { EngineQueue } from "./engine-queue.ts";
import { isKnownLanguage } from "./languages.ts";
import { DownloadError } from "./model/download.ts";
import { ModelFileError } from "./model/model-file.ts";
import { type DemoModel, type ModelInUse, ModelSearch } from "./model/model-search.ts";
import { type ModelChoice, ModelMissing, modelName, sha256OfFile } from "./model/model-store.ts";
import { PackedModelError } from "./model/packed-model.ts";
import { BuildError, type BuiltServer, builtServer, checkServer } from "./process/build-server.ts";
import type { EngineProcess } from "./process/engine-process.ts";
import { superviseEngine } from "./process/supervisor.ts";
import { Transcriber } from "./transcriber.ts";

export interface WhisperOptions {
  /** Path of a `whisper-server`; null to build the one from `nodejs-whisper`. */
  readonly program: string | null;
  /** Builds are stored here. */
  readonly buildFolder: string;
  readonly model: ModelChoice;
  /** The demo model that answers while the configured model is not available. Left out for none. */
  readonly demoModel?: DemoModel;
  readonly threads: number;
  /** `fitted`: the window fits short sounds, which is faster. `full`: the window is always 30 s. */
  readonly window: "fitted" | "full";
  /** The default language as a BCP 47 tag; if null, the engine detects it. */
  readonly language: string | null;
  /** How many questions may wait. */
  readonly jobsMax: number;
  readonly log: Logger;
}

const STOPPED = "The speech engine is being stopped";

/**
 * Transcribes with whisper.cpp in a child process that keeps the model in memory. Builds the program and downloads the
 * model if needed.
 */
export class WhisperEngine implements SpeechEngine {
  readonly #options: WhisperOptions;
  readonly #queue: EngineQueue;
  readonly #search: ModelSearch;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<(status: EngineStatus) => void>();
  #status: EngineStatus = { state: "loading" };
  #server: BuiltServer | null = null;
  #model: ModelInUse | null = null;
  #modelSha256: string | null = null;
  #transcriber: Transcriber | null = null;
  #starts = 0;
  #running: Promise<void> | null = null;

  constructor(options: WhisperOptions) {
    this.#options = options;
    this.#queue = new EngineQueue(options.jobsMax, options.log);
    this.#search = new ModelSearch({ choice: options.model, demoModel: options.demoModel ?? null, log: options.log });
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
      model: this.#model?.name ?? modelName(model),
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
    if (this.#queue.isFull)
      return new SpeechError("busy", "Too many recordings are already waiting for the speech engine");
    return null;
  }

  knowsLanguage(language: string): boolean {
    return this.#model === null || isKnownLanguage(language, this.#model.shape.isMultilingual);
  }

  canTranslate(): boolean {
    return this.#model === null || this.#model.shape.isMultilingual;
  }

  async transcribe(samples: Int16Array, request: TranscriptionRequest): Promise<Transcript> {
    request.signal.throwIfAborted();
    const refusal = this.refusal();
    if (refusal !== null) throw refusal;
    const transcriber = this.#transcriber;
    assert(transcriber !== null, "a null transcriber makes refusal() non-null");
    return transcriber.transcribe(samples, request);
  }

  /** Starts to build, download and load in the background, and keeps the engine running from then on. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Rejects all waiting requests, and resolves once the child process has ended. */
  async close(): Promise<void> {
    this.#stopping.abort(new SpeechError("unavailable", STOPPED));
    this.#queue.setEngine(null);
    this.#queue.rejectAll(new SpeechError("unavailable", STOPPED));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      const [server, model] = await this.#prepare(signal);
      if (model.demo !== null) await this.#runDemoModel(server, model);
      else await this.#keepRunning(server, model, signal);
    } catch (error) {
      if (signal.aborted) return;
      const { log } = this.#options;
      log.error({ error }, "speech engine cannot be started");
      this.#show({ state: "failed", reason: reasonOf(error) });
    }
  }

  /** Builds and downloads at the same time. The status shows the build while both are in progress. */
  async #prepare(signal: AbortSignal): Promise<[BuiltServer, ModelInUse]> {
    const doing: { build: EngineStatus | null; model: EngineStatus | null } = { build: null, model: null };
    const show = (news: Partial<typeof doing>): void => {
      Object.assign(doing, news);
      this.#show(doing.build ?? doing.model ?? { state: "loading" });
    };
    const failing = new AbortController(); // A failed build stops the download.
    const either = AbortSignal.any([signal, failing.signal]);
    const both = [
      this.#findServer((build) => show({ build }), either),
      this.#search.first((model) => show({ model }), either),
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
    if (program !== null) return checkServer(program, signal);
    const onProgress = (percent: number | null): void => show({ state: "building", percent });
    const server = await builtServer({ folder: buildFolder, onProgress }, signal);
    show(null);
    return server;
  }

  /** Runs the demo model until the configured model is available, then that. Requests wait during the change. */
  async #runDemoModel(server: BuiltServer, demoModel: ModelInUse): Promise<void> {
    const { signal } = this.#stopping;
    const replacement = new AbortController();
    const choice = this.#search.later(signal).then((model) => {
      this.#queue.setEngine(null);
      this.#show({ state: "loading" });
      replacement.abort();
      return model;
    });
    choice.catch(() => {}); // If the search fails, the demo model stays.
    try {
      await this.#keepRunning(server, demoModel, AbortSignal.any([signal, replacement.signal]));
    } catch (error) {
      if (signal.aborted || !replacement.signal.aborted) throw error;
    }
    const model = await choice;
    this.#options.log.info({ model: model.name }, "speech model available; it replaces the demo model");
    this.#model = model;
    this.#starts = 0;
    await this.#keepRunning(server, model, signal);
  }

  async #keepRunning(server: BuiltServer, model: ModelInUse, signal: AbortSignal): Promise<void> {
    const { threads, window, language, log } = this.#options;
    void this.#checkModel(model, signal);
    if (language !== null && !isKnownLanguage(language, model.shape.isMultilingual))
      log.warn({ model: model.name, language }, "ignoring SPEECH_LANGUAGE: the speech model knows English only");
    const transcriber = new Transcriber({ queue: this.#queue, shape: model.shape, window, language });
    this.#show({ state: "loading" });
    await superviseEngine(
      {
        command: { server, modelPath: model.path, threads },
        tryOut: (engine, limit) => transcriber.tryOut(engine, limit),
        onReady: (engine) => this.#ready(engine, transcriber, model),
        onRestart: () => {
          this.#queue.setEngine(null);
          if (this.#status.state !== "failed") this.#show({ state: "loading" });
        },
        onFailure: (reason) => {
          this.#queue.setEngine(null);
          this.#queue.rejectAll(new SpeechError("failed", reason));
          this.#show({ state: "failed", reason });
        },
        log,
      },
      signal,
    );
  }

  #ready(engine: EngineProcess, transcriber: Transcriber, { demo }: ModelInUse): void {
    this.#starts += 1;
    this.#transcriber = transcriber;
    this.#show(demo === null ? { state: "ready" } : { state: "demo", ...demo });
    this.#queue.setEngine(engine);
  }

  /** Runs in the background, because hashing a large file takes seconds. */
  async #checkModel({ path, sha256: expectedSha256 }: ModelInUse, signal: AbortSignal): Promise<void> {
    this.#modelSha256 = null;
    try {
      this.#modelSha256 = await sha256OfFile(path, signal);
    } catch {
      return; // The engine reports an unreadable file when it loads it.
    }
    if (expectedSha256 !== null && expectedSha256 !== this.#modelSha256)
      this.#options.log.warn(
        { path, sha256: this.#modelSha256, expected: expectedSha256 },
        "speech model differs from the published file of this name",
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
    case "loading":
    case "demo":
    case "ready":
      return "The speech model is being loaded";
    default:
      return assertNever(status);
  }
}

function reasonOf(error: unknown): string {
  const isKnown =
    error instanceof BuildError ||
    error instanceof DownloadError ||
    error instanceof ModelFileError ||
    error instanceof ModelMissing ||
    error instanceof PackedModelError;
  return isKnown ? error.message : "The speech engine cannot be started; the log says why";
}

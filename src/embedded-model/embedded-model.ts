import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import type { Logger } from "@antiphon/base/logger.ts";
import { runGuarded, statusText } from "@antiphon/programs/guarded-child.ts";
import { nextStart } from "@antiphon/speech/recognition/whisper/process/supervisor.ts";
import { EmbeddedModelAbsent, type EmbeddedServer } from "../model-engines/embedded/ports.ts";
import type { ChildMessage, ChildOptions } from "./child/child-options.ts";
import { type ModelProcess, startModelProcess } from "./model-process.ts";

export type EmbeddedModelState =
  | { readonly type: "loading"; readonly share: number }
  | { readonly type: "ready"; readonly model: string; readonly window: number }
  /** `reason` is a sentence without a full stop. */
  | { readonly type: "failed"; readonly reason: string };

export interface EmbeddedModelOptions extends Omit<ChildOptions, "socketPath"> {
  readonly log: Logger;
}

/** Operating systems limit the path of a socket to 104 or 108 bytes. */
const SOCKET_PATH_BYTES_MAX = 100;
/** Starts the child in a network of its own, which has no way out. Not every system allows that. */
const WITHOUT_NETWORK = ["/usr/bin/unshare", "--user", "--map-current-user", "--net"];
const FAILED_RETRY_SECONDS = 10;
const PROBE_MS_MAX = 5_000;

/** A language model in a child process: loads it, and starts another child when one ends, with growing pauses. */
export class EmbeddedModel implements EmbeddedServer {
  readonly socketPath: string;
  readonly #options: EmbeddedModelOptions;
  readonly #folder: string;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #state: EmbeddedModelState = { type: "loading", share: 0 };
  #starts = 0;
  /** Resolves when the state changes. */
  #change = Promise.withResolvers<void>();

  private constructor(folder: string, options: EmbeddedModelOptions) {
    this.#folder = folder;
    this.socketPath = join(folder, "model.sock");
    this.#options = options;
    this.#running = this.#supervise();
  }

  /** Begins to load the model. */
  static async open(options: EmbeddedModelOptions): Promise<EmbeddedModel> {
    return new EmbeddedModel(await socketFolder(), options);
  }

  get isReady(): boolean {
    return this.#state.type === "ready";
  }

  async untilReady(signal: AbortSignal): Promise<void> {
    while (this.#state.type === "loading") await unlessAborted(this.#change.promise, signal);
    if (this.#state.type === "failed") throw new EmbeddedModelAbsent(this.#state.reason, FAILED_RETRY_SECONDS);
  }

  get starts(): number {
    return this.#starts;
  }

  async untilStarted(starts: number, signal: AbortSignal): Promise<void> {
    while (this.#starts < starts && this.#state.type !== "failed") await unlessAborted(this.#change.promise, signal);
    await this.untilReady(signal);
  }

  /** Resolves once it is known whether the file can be loaded, which is before all of it has been. */
  async untilJudged(signal: AbortSignal): Promise<EmbeddedModelState> {
    while (this.#state.type === "loading" && this.#state.share === 0) await unlessAborted(this.#change.promise, signal);
    return this.#state;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#closing;
    const prefix = await networkPrefix(signal);
    const endsMs: number[] = [];
    let startsInVain = 0;
    while (!signal.aborted) {
      const { wasReady, reason, isRefusal } = await this.#runOnce(prefix);
      if (signal.aborted) return;
      startsInVain = wasReady ? 0 : startsInVain + 1;
      endsMs.push(Date.now());
      endsMs.splice(0, Math.max(0, endsMs.length - ENDS_KEPT));
      const next = nextStart(endsMs, startsInVain, Date.now());
      this.#options.log.warn({ reason, pauseMs: next.pauseMs }, "the embedded model ended");
      if (isRefusal) return this.#set({ type: "failed", reason });
      this.#set(next.type === "rest" ? { type: "failed", reason } : { type: "loading", share: 0 });
      await sleep(next.pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async #runOnce(
    prefix: readonly string[],
  ): Promise<{ readonly wasReady: boolean; readonly reason: string; readonly isRefusal: boolean }> {
    const { log, ...options } = this.#options;
    const { signal } = this.#closing;
    await rm(this.socketPath, { force: true });
    let refusal: string | null = null;
    let wasReady = false;
    const startedMs = performance.now();
    const hear = (message: ChildMessage): void => {
      if (message.type === "refused") refusal = message.message;
      else if (message.type === "progress") this.#set({ type: "loading", share: message.share });
      else {
        wasReady = true;
        const { model, window, notes } = message;
        const startMs = Math.round(performance.now() - startedMs);
        log.info({ model, window, startMs }, "the embedded model is ready");
        for (const note of notes) log.warn({ model }, note);
        this.#starts += 1;
        this.#set({ type: "ready", model, window });
      }
    };
    const child = await startModelProcess({ ...options, socketPath: this.socketPath }, prefix, hear);
    const { status, outputTail } = await endOf(child, signal);
    return {
      wasReady,
      reason: refusal ?? `The process of the embedded model ended with ${statusText(status)}: ${lastLine(outputTail)}`,
      isRefusal: refusal !== null,
    };
  }

  #set(state: EmbeddedModelState): void {
    this.#state = state;
    const earlier = this.#change;
    this.#change = Promise.withResolvers<void>();
    earlier.resolve();
  }
}

const ENDS_KEPT = 100;

/** Kills the child when the signal aborts. */
async function endOf(child: ModelProcess, signal: AbortSignal): ReturnType<() => ModelProcess["exit"]> {
  const kill = (): void => child.kill();
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  const end = await child.exit;
  signal.removeEventListener("abort", kill);
  return end;
}

function lastLine(output: string): string {
  return (
    output
      .split("\n")
      .findLast((line) => line.trim() !== "")
      ?.slice(0, 300) ?? "it said nothing"
  );
}

/** Has mode 700, so that only this user can open it. */
function socketFolder(): Promise<string> {
  const bytes = Buffer.byteLength(join(tmpdir(), "antiphon-model-XXXXXX/model.sock"));
  return mkdtemp(join(bytes > SOCKET_PATH_BYTES_MAX ? "/tmp" : tmpdir(), "antiphon-model-"));
}

/** The command that takes the network away; nothing where the system does not allow it. */
async function networkPrefix(signal: AbortSignal): Promise<readonly string[]> {
  const [program = "", ...args] = WITHOUT_NETWORK;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS_MAX)]);
  const call = { program, args: [...args, "/bin/true"], folder: tmpdir(), environment: {} };
  return await runGuarded(call, limit).then(
    () => WITHOUT_NETWORK,
    () => [],
  );
}

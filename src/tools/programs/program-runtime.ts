import { createHash } from "node:crypto";
import { isRecord } from "@antiphon/base/json/records.ts";
import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { ProgramJob, ProgramRuntime, ProgramState } from "@antiphon/domain/programs.ts";
import { readInThread } from "@antiphon/media/read-in-thread.ts";
import type { ProgramLimits, ProgramTask } from "./program-task.ts";

const LIMITS: ProgramLimits = {
  memoryBytesMax: 64 * 1024 * 1024,
  runMs: 5000,
  callsMax: 256,
  charactersMax: 1024 * 1024,
};
/** The start of the thread and of the engine, in milliseconds. */
const START_MS_MAX = 5000;
/** Programs that run at the same time. Others wait. */
const RUNS_MAX = 2;
const VERSION = "qjs1";
const HASH_CHARACTERS = 32;
const FINGERPRINT = new RegExp(`^${VERSION}\\.(?<start>\\d{1,15})\\.(?<hash>[\\w-]{${HASH_CHARACTERS}})$`);

const UNKNOWN_PROGRAM = "The program was begun by another server, or was changed since, so it cannot go on.";

/** Runs programs in QuickJS, an engine for JavaScript without access to anything outside, each in a thread. */
export class QuickJsPrograms implements ProgramRuntime {
  readonly #slots = new Semaphore(RUNS_MAX);

  begin(code: string): string {
    return `${VERSION}.${Date.now()}.${hashOf(code)}`;
  }

  async run({ program, names, earlierCalls }: ProgramJob, signal: AbortSignal): Promise<ProgramState> {
    const { code, fingerprint } = program;
    const { start, hash } = FINGERPRINT.exec(fingerprint)?.groups ?? {};
    if (start === undefined || hash !== hashOf(code))
      return { type: "ended", status: "incomplete", result: UNKNOWN_PROGRAM };
    const seed = Buffer.from(hash, "base64url").readUInt32LE();
    const task: ProgramTask = { code, names, earlierCalls, now: Number(start), seed, limits: LIMITS };
    const release = await this.#slots.take(signal);
    try {
      const module = new URL("./program-worker.ts", import.meta.url);
      const timeoutMs = START_MS_MAX + LIMITS.runMs;
      const outcome = await readInThread({ module, task, timeoutMs, isOutcome: isProgramState }, signal);
      if (outcome.type === "waits" || outcome.type === "ended") return outcome;
      const result =
        outcome.type === "too_costly" ? "The program ran for too long." : "The program used too much memory.";
      return { type: "ended", status: "incomplete", result };
    } finally {
      release();
    }
  }
}

function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("base64url").slice(0, HASH_CHARACTERS);
}

function isProgramState(value: unknown): value is ProgramState {
  return isRecord(value) && (value["type"] === "waits" || value["type"] === "ended");
}

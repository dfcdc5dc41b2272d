import type { Logger } from "@antiphon/base/logger.ts";
import {
  type CodeAbilities,
  type CodeRun,
  type CommandList,
  type CommandRun,
  type CommandRuns,
  type ContainerSessions,
  type FileChanges,
  type Ran,
  type SessionEnd,
  sessionMemory,
} from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type SandboxCallLimits, type SandboxEngine, SandboxFailed, type SandboxRun } from "../ports/sandbox-engine.ts";
import { type SessionObserver } from "../ports/session-observer.ts";
import { type StoredContainers } from "../ports/stored-containers.ts";
import { CallLines } from "./call-lines.ts";
import { CODE_LIMITS } from "./code-limits.ts";
import type { ContainerSession } from "./container-session.ts";
import { ContainerGone } from "./session-files.ts";
import { SessionPool } from "./session-pool.ts";
import { storePictures } from "./store-pictures.ts";
import { watchContainers } from "./watch-containers.ts";

export interface SessionsOptions {
  readonly engine: SandboxEngine;
  readonly containers: StoredContainers;
  readonly observer: SessionObserver;
  readonly log: Logger;
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly containerBytesMax: number;
  readonly sessionsMax: number;
  /** How long a call waits for a place. Default: 30 seconds. */
  readonly waitMs?: number;
}

interface Call {
  readonly owner: Owner;
  readonly containerId: string;
  readonly signal: AbortSignal;
}

/** A session that has the stored files and is ready for a call. */
interface Prepared {
  readonly session: ContainerSession;
  readonly lostVariables: boolean;
  readonly faults: readonly string[];
}

/** The result of a call in a sandbox, before its files are stored. */
interface Outcome {
  readonly end: SessionEnd | null;
  readonly faults: readonly string[];
}

type Finished<Done extends Outcome> = Done & FileChanges & { readonly lostVariables: boolean };

const GONE = { type: "gone" } as const;
const BUSY = { type: "busy" } as const;
const UNCHANGED: FileChanges = { changedFiles: [], faults: [] };
const CRASHED: SandboxRun = { outputs: [], traceback: null, end: "crashed" };
/** A session that died while idle is replaced once. */
const ATTEMPTS_MAX = 2;

/** Runs code in a limited number of sandboxes. After each call, their files are stored with their containers. */
export class SandboxSessions implements ContainerSessions {
  readonly abilities: CodeAbilities;
  readonly callMsMax: number;
  readonly memoryBytesMax: number;
  readonly #options: SessionsOptions;
  readonly #pool: SessionPool;
  readonly #lines = new CallLines(CODE_LIMITS.callsOfContainerMax);
  readonly #stopWatching: () => void;

  constructor(options: SessionsOptions) {
    const { engine, containers, observer, log, memoryBytes, containerBytesMax, sessionsMax } = options;
    this.abilities = engine.abilities;
    this.callMsMax = options.timeoutMs;
    this.memoryBytesMax = memoryBytes;
    this.#options = options;
    this.#pool = new SessionPool({
      engine,
      containers,
      observer,
      sessionsMax,
      sandboxLimits: { diskBytes: containerBytesMax, processesMax: CODE_LIMITS.processesMax },
      fileLimits: { ...CODE_LIMITS, containerBytesMax },
      waitMs: options.waitMs ?? CODE_LIMITS.placeWaitMs,
      waitingMax: CODE_LIMITS.placesWaitingMax,
      startMs: CODE_LIMITS.startMs,
    });
    this.#stopWatching = watchContainers(() => this.#pool.sessions, containers, log);
  }

  async runCode(owner: Owner, containerId: string, code: string, signal: AbortSignal): Promise<Ran<CodeRun>> {
    return await this.#call({ owner, containerId, signal }, async ({ sandbox, files }, stop) => {
      const run = (await unlessEnded(sandbox.runCode(code, this.#limits(null), stop))) ?? CRASHED;
      const { outputs, faults } = await storePictures(run.outputs, files, CODE_LIMITS, stop);
      return { outputs, faults, traceback: run.traceback, end: run.end };
    });
  }

  async runCommands(
    owner: Owner,
    containerId: string,
    list: CommandList,
    signal: AbortSignal,
  ): Promise<Ran<CommandRuns>> {
    return await this.#call({ owner, containerId, signal }, async ({ sandbox }, stop) => {
      const runs: CommandRun[] = [];
      for (const command of list.commands) {
        const result = await unlessEnded(sandbox.runCommand(command, this.#limits(list), stop));
        if (result === null) return { runs, end: "crashed", faults: [] };
        runs.push(result.run);
        if (result.end !== null) return { runs, end: result.end, faults: [] };
      }
      return { runs, end: null, faults: [] };
    });
  }

  async close(): Promise<void> {
    this.#stopWatching();
    await this.#pool.close();
    await this.#options.engine.close();
  }

  /** Waits until earlier calls of the container are done, then does the work in its session. */
  async #call<Done extends Outcome>(
    call: Call,
    work: (session: ContainerSession, stop: AbortSignal) => Promise<Done>,
  ): Promise<Ran<Finished<Done>>> {
    const { owner, containerId, signal } = call;
    signal.throwIfAborted();
    if ((await this.#options.containers.find(owner, containerId)) === null) return GONE;
    const leave = await this.#lines.enter(containerId, signal);
    if (leave === null) return BUSY;
    try {
      const preparation = await this.#prepare(call);
      if ("type" in preparation) return preparation;
      const cancel = (): void => void preparation.session.end("cancelled");
      signal.addEventListener("abort", cancel, { once: true });
      try {
        return await this.#finish(call, preparation, work);
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    } finally {
      leave();
      if (this.#lines.isEmpty(containerId)) this.#pool.rest(containerId);
    }
  }

  async #prepare(call: Call): Promise<Prepared | typeof GONE | typeof BUSY> {
    const { owner, containerId, signal } = call;
    let ranBefore: boolean | null = null;
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.#sessionFor(call);
      if ("type" in session) return session;
      try {
        const before = await this.#options.containers.begin(owner, containerId, session.id);
        if (before === null) {
          await session.end("gone");
          return GONE;
        }
        ranBefore ??= before.sessionId !== null;
        const faults = await inTime(signal, (stop) => session.files.bring(before.files, stop));
        return { session, faults, lostVariables: ranBefore && before.sessionId !== session.id };
      } catch (error) {
        await session.end(signal.aborted ? "cancelled" : "crashed");
        signal.throwIfAborted();
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  }

  /** The session of the container, unless another process has run code in it since; otherwise a new one. */
  async #sessionFor({ owner, containerId, signal }: Call): Promise<ContainerSession | typeof GONE | typeof BUSY> {
    const container = await this.#options.containers.find(owner, containerId);
    const session = this.#pool.claim(containerId);
    if (container === null) {
      await session?.end("gone");
      return GONE;
    }
    if (session?.id === container.sessionId) return session;
    await session?.end("outdated");
    const memoryBytes = sessionMemory(container.memoryLimit, this.#options.memoryBytes);
    return (await this.#pool.start({ owner, containerId, memoryBytes }, signal)) ?? BUSY;
  }

  /** Does the work and stores the files. */
  async #finish<Done extends Outcome>(
    { owner, containerId, signal }: Call,
    { session, lostVariables, faults }: Prepared,
    work: (session: ContainerSession, stop: AbortSignal) => Promise<Done>,
  ): Promise<Ran<Finished<Done>>> {
    try {
      const stop = AbortSignal.any([signal, session.removal]);
      const result = await work(session, stop);
      const changes =
        result.end === null ? await unlessEnded(inTime(stop, (late) => session.files.keep(late))) : UNCHANGED;
      const end = changes === null ? "crashed" : result.end;
      if (end !== null) await session.end(end);
      if (!(await this.#options.containers.touch(owner, containerId))) throw new ContainerGone();
      const { changedFiles, faults: keepFaults } = changes ?? UNCHANGED;
      return {
        type: "ran",
        result: { ...result, end, changedFiles, faults: [...faults, ...result.faults, ...keepFaults], lostVariables },
      };
    } catch (error) {
      const isGone = error instanceof ContainerGone || session.removal.aborted;
      await session.end(signal.aborted ? "cancelled" : isGone ? "gone" : "crashed");
      signal.throwIfAborted();
      if (isGone) return GONE;
      throw error;
    }
  }

  #limits(list: CommandList | null): SandboxCallLimits {
    const { logCharactersMax, imagesMax, imageBytesMax } = CODE_LIMITS;
    return {
      timeoutMs: Math.min(list?.timeoutMs ?? Infinity, this.#options.timeoutMs),
      logCharactersMax: Math.min(list?.outputCharactersMax ?? Infinity, logCharactersMax),
      imagesMax,
      imageBytesMax,
    };
  }
}

/** Null if the sandbox has ended. */
async function unlessEnded<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SandboxFailed) return null;
    throw error;
  }
}

/** A sandbox that is too slow with its files has failed. */
async function inTime<T>(stop: AbortSignal, work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const late = AbortSignal.timeout(CODE_LIMITS.syncMs);
  try {
    return await work(AbortSignal.any([stop, late]));
  } catch (error) {
    if (late.aborted && !stop.aborted) throw new SandboxFailed("the sandbox was too slow with its files");
    throw error;
  }
}

import { Semaphore } from "@antiphon/base/limits/semaphore.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { SandboxEngine, SandboxLimits } from "../ports/sandbox-engine.ts";
import type { SessionObserver } from "../ports/session-observer.ts";
import type { StoredContainers } from "../ports/stored-containers.ts";
import { ContainerSession } from "./container-session.ts";
import { type FileLimits, SessionFiles } from "./session-files.ts";

export interface PoolOptions {
  readonly engine: SandboxEngine;
  readonly containers: StoredContainers;
  readonly sandboxLimits: Omit<SandboxLimits, "memoryBytes">;
  readonly fileLimits: FileLimits;
  readonly sessionsMax: number;
  /** The maximum waiting calls, and their time limit. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** How long a sandbox may take to start. */
  readonly startMs: number;
  readonly observer: SessionObserver;
}

export interface SessionPlan {
  readonly owner: Owner;
  readonly containerId: string;
  readonly memoryBytes: number;
}

/**
 * A limited number of sessions, one per container. A new session replaces the one that was idle for the longest time,
 * or waits for a place.
 */
export class SessionPool {
  readonly #options: PoolOptions;
  /** Sessions that are alive, and sessions that are ending. */
  readonly #sessions = new Set<ContainerSession>();
  readonly #places: Semaphore;
  readonly #closing = new AbortController();
  #waiting = 0;
  #placesInUse = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#places = new Semaphore(options.sessionsMax);
    this.#count(0);
  }

  /** Sessions that are alive. */
  get sessions(): readonly ContainerSession[] {
    return [...this.#sessions].filter((session) => session.isAlive);
  }

  /** The session of a container, now marked as working; null if it has none. */
  claim(containerId: string): ContainerSession | null {
    const session = this.#find(containerId);
    session?.work();
    return session;
  }

  /**
   * Starts a session, marked as working. Null if no place became free in time. Rejects with `SandboxFailed`, or with
   * the signal's reason.
   */
  async start({ owner, containerId, memoryBytes }: SessionPlan, signal: AbortSignal): Promise<ContainerSession | null> {
    const leave = await this.#takePlace(signal);
    if (leave === null) return null;
    const { engine, containers, sandboxLimits, fileLimits, startMs } = this.#options;
    const stop = AbortSignal.any([signal, this.#closing.signal, AbortSignal.timeout(startMs)]);
    try {
      const sandbox = await engine.start({ ...sandboxLimits, memoryBytes }, stop);
      const files = new SessionFiles({ containers, sandbox, owner, containerId, limits: fileLimits });
      const session = new ContainerSession({ owner, containerId, sandbox, files });
      this.#sessions.add(session);
      void session.exit.then((reason) => {
        this.#sessions.delete(session);
        leave();
        this.#options.observer.noteEnd(reason);
      });
      if (this.#closing.signal.aborted) await session.end("closed");
      return session;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Marks the session of a container as idle, if it has one. */
  rest(containerId: string): void {
    this.#find(containerId)?.rest();
    this.#makeRoom();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the sessions are closed"));
    await Promise.all([...this.#sessions].map((session) => session.end("closed")));
  }

  #find(containerId: string): ContainerSession | null {
    return this.sessions.find((session) => session.containerId === containerId) ?? null;
  }

  async #takePlace(signal: AbortSignal): Promise<(() => void) | null> {
    if (this.#waiting >= this.#options.waitingMax || this.#closing.signal.aborted) return null;
    const late = AbortSignal.any([AbortSignal.timeout(this.#options.waitMs), this.#closing.signal]);
    this.#waiting += 1;
    if (this.#placesInUse >= this.#options.sessionsMax) this.#makeRoom();
    try {
      const giveBack = await this.#places.take(AbortSignal.any([signal, late]));
      this.#count(1);
      return () => {
        this.#count(-1);
        giveBack();
      };
    } catch (error) {
      if (late.aborted && !signal.aborted) return null;
      throw error;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Ends as many idle sessions as there are waiting calls. */
  #makeRoom(): void {
    const leaving = this.#sessions.size - this.sessions.length;
    const idle = this.sessions
      .flatMap((session) => (session.idleSince === null ? [] : [{ session, since: session.idleSince }]))
      .toSorted((one, other) => one.since - other.since);
    for (const { session } of idle.slice(0, Math.max(0, this.#waiting - leaving))) void session.end("displaced");
  }

  #count(change: number): void {
    this.#placesInUse += change;
    this.#options.observer.countSessions(this.#placesInUse, this.#options.engine.abilities.engine);
  }
}

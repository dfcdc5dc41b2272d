import { randomHex } from "@antiphon/base/ids.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Sandbox } from "../ports/sandbox-engine.ts";
import type { SessionKill } from "../ports/session-observer.ts";
import type { SessionFiles } from "./session-files.ts";

interface SessionOrigin {
  readonly owner: Owner;
  readonly containerId: string;
  readonly sandbox: Sandbox;
  readonly files: SessionFiles;
}

/** A sandbox in use by one container. */
export class ContainerSession {
  /** Random, so that it differs from sessions of other processes. */
  readonly id = randomHex(32);
  readonly owner: Owner;
  readonly containerId: string;
  readonly sandbox: Sandbox;
  readonly files: SessionFiles;
  /** Resolves when all of it has ended. */
  readonly exit: Promise<SessionKill>;
  readonly #removal = new AbortController();
  #reason: SessionKill | null = null;
  #idleSince: number | null = null;
  #hasEnded = false;

  constructor({ owner, containerId, sandbox, files }: SessionOrigin) {
    this.owner = owner;
    this.containerId = containerId;
    this.sandbox = sandbox;
    this.files = files;
    this.exit = sandbox.exit.then((end) => {
      this.#hasEnded = true;
      return this.#reason ?? (end === "killed" ? "crashed" : end);
    });
  }

  get isAlive(): boolean {
    return this.#reason === null && !this.#hasEnded;
  }

  /** When it became idle, in `performance.now()` time; null if it is working. */
  get idleSince(): number | null {
    return this.#idleSince;
  }

  /** Aborts if its container is gone. */
  get removal(): AbortSignal {
    return this.#removal.signal;
  }

  work(): void {
    this.#idleSince = null;
  }

  rest(): void {
    this.#idleSince = performance.now();
  }

  /** Ends it at once with all its work. The first reason counts. Resolves when all of it has ended. */
  async end(reason: SessionKill): Promise<void> {
    this.#reason ??= reason;
    if (reason === "gone") this.#removal.abort(new Error("the container is gone"));
    await this.sandbox.kill();
    await this.exit;
  }
}

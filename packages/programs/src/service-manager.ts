import { execFile } from "node:child_process";
import type { Logger } from "@antiphon/base/logger.ts";
import { inheritedEnvironment } from "./inherited-environment.ts";

/** Part of systemd. Node has no Unix datagram sockets, on which a service manager listens. */
const PROGRAM = "systemd-notify";
/** The time limit of the program, which waits until the manager has read its message. */
const NOTIFY_MS_MAX = 10_000;
const MICROSECONDS_A_MILLISECOND = 1000;

/** Reports the state of this process to its service manager, like sd_notify. */
export interface ServiceManager {
  /** The server serves. Starts feeding the manager's watchdog, if it has one. */
  ready(status: string): void;
  /** Like `ready`, but this process becomes the service's main process. */
  takeOver(status: string): void;
  /** Another process has replaced this one and reports from now on. */
  fallSilent(): void;
  /** A sentence for the status of the service. */
  describe(status: string): void;
  /** The server finishes open work, then ends. */
  stopping(): void;
}

/** `NOTIFY_SOCKET` names the manager's socket; without it, there is no manager. */
export function serviceManagerOf(
  environment: Readonly<Record<string, string | undefined>>,
  log: Logger,
): ServiceManager {
  const socket = environment["NOTIFY_SOCKET"] ?? "";
  if (socket === "") return NOBODY;
  return new NotifiedManager(socket, watchdogPeriod(environment), log);
}

const NOBODY: ServiceManager = {
  ready: () => {},
  takeOver: () => {},
  fallSilent: () => {},
  describe: () => {},
  stopping: () => {},
};

/** After how many milliseconds without a sign of life the manager restarts this process; null if it does not watch. */
function watchdogPeriod(environment: Readonly<Record<string, string | undefined>>): number | null {
  const forProcess = environment["WATCHDOG_PID"];
  const microseconds = Number(environment["WATCHDOG_USEC"]);
  const isWatched = microseconds > 0 && (forProcess === undefined || Number(forProcess) === process.pid);
  return isWatched ? microseconds / MICROSECONDS_A_MILLISECOND : null;
}

class NotifiedManager implements ServiceManager {
  readonly #socket: string;
  readonly #watchdogMs: number | null;
  readonly #log: Logger;
  /** Resolves when everything so far was sent, to keep messages in order. */
  #lastSend: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #isSilent = false;

  constructor(socket: string, watchdogMs: number | null, log: Logger) {
    this.#socket = socket;
    this.#watchdogMs = watchdogMs;
    this.#log = log;
  }

  ready(status: string): void {
    void this.#send("READY=1", `STATUS=${status}`);
    this.#startFeeding();
  }

  takeOver(status: string): void {
    void this.#send("READY=1", `MAINPID=${process.pid}`, `STATUS=${status}`);
    this.#startFeeding();
  }

  fallSilent(): void {
    this.#isSilent = true;
    clearTimeout(this.#timer ?? undefined);
  }

  describe(status: string): void {
    void this.#send(`STATUS=${status}`);
  }

  stopping(): void {
    void this.#send("STOPPING=1", "STATUS=Finishing what is open");
  }

  #startFeeding(): void {
    if (this.#watchdogMs !== null && this.#timer === null) this.#feed(this.#watchdogMs);
  }

  /** Twice in each period of the watchdog, as its manual advises, and never two at once. */
  #feed(periodMs: number): void {
    this.#timer = setTimeout(() => {
      void this.#send("WATCHDOG=1").then(() => {
        if (!this.#isSilent) this.#feed(periodMs);
      });
    }, periodMs / 2).unref();
  }

  #send(...assignments: readonly string[]): Promise<void> {
    this.#lastSend = this.#lastSend.then(() => this.#sendNow(assignments));
    return this.#lastSend;
  }

  #sendNow(assignments: readonly string[]): Promise<void> {
    if (this.#isSilent) return Promise.resolve();
    const environment = { ...inheritedEnvironment(), NOTIFY_SOCKET: this.#socket };
    const { promise, resolve } = Promise.withResolvers<void>();
    execFile(PROGRAM, [...assignments], { env: environment, timeout: NOTIFY_MS_MAX }, (error) => {
      if (error !== null) this.#log.warn({ err: error, assignments }, "could not notify the service manager");
      resolve();
    });
    return promise;
  }
}

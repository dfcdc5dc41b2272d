import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { cleanUp } from "../../bench/clean-up.ts";
import { RETRY_MS, START_MS_MAX } from "../limits.ts";

/** A server that was started, and its address without a slash at the end. */
export interface Launched {
  readonly child: ChildProcess;
  readonly url: string;
}

/** A server that is killed and started again on the same storage. */
export class Node {
  readonly name: string;
  /** How it ended without having been killed, and why it did not start. It is started again then. */
  readonly faults: string[] = [];
  readonly #launch: () => Promise<Launched>;
  #launched: Launched | null = null;
  #isWanted = false;

  constructor(name: string, launch: () => Promise<Launched>) {
    this.name = name;
    this.#launch = launch;
  }

  /** Where it answers; null while it is down. */
  get url(): string | null {
    return this.#launched?.url ?? null;
  }

  async start(): Promise<void> {
    this.#isWanted = true;
    const launched = await this.#launch();
    const { child } = launched;
    const stopChild = cleanUp(() => child.kill("SIGKILL"));
    child.once("exit", (code, signal) => {
      stopChild();
      this.#launched = null;
      if (!this.#isWanted) return;
      this.faults.push(`${this.name} ended by itself with ${signal ?? code}`);
      void this.startAgain();
    });
    this.#launched = launched;
  }

  /** Sends SIGKILL. Resolves once the process is gone. */
  async kill(): Promise<void> {
    this.#isWanted = false;
    const child = this.#launched?.child;
    this.#launched = null;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  /** Starts it after its end, again and again if need be, as a service manager would do. */
  async startAgain(): Promise<void> {
    this.#isWanted = true;
    const until = Date.now() + START_MS_MAX;
    while (this.#isWanted && Date.now() < until) {
      try {
        return await this.start();
      } catch (error) {
        this.faults.push(`${this.name} did not start: ${String(error)}`);
        await sleep(RETRY_MS * 10);
      }
    }
  }
}

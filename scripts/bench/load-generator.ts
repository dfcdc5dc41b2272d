import { type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { cleanUp } from "./clean-up.ts";
import type { Job, Outcome } from "./load-job.ts";

/** The process that makes load. It does one job at a time. */
export class LoadGenerator {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly stop: () => void;

  constructor() {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, "load.ts")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.stop = cleanUp(() => this.#child.kill());
  }

  /** Resolves when all replies of the job came, whole or not. */
  async perform(job: Job): Promise<Outcome> {
    this.#child.stdin.write(`${JSON.stringify(job)}\n`);
    const line = await this.#lines.next();
    if (line.done === true) throw new Error("the load generator ended");
    return JSON.parse(line.value);
  }

  /** Like `perform`. Throws if a reply was not whole. */
  async performWell(job: Job): Promise<Outcome> {
    const outcome = await this.perform(job);
    if (outcome.unended + outcome.failed > 0)
      throw new Error(
        `${outcome.unended} replies lacked their end, ${outcome.failed} failed: ${outcome.reasons.join("; ")}`,
      );
    return outcome;
  }

  /** Closes the connections that a job held. */
  release(): void {
    this.#child.stdin.write("release\n");
  }
}

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { cleanUp } from "./clean-up.ts";

/** The work of the tools without a server of ours, in a process of its own. */
export class McpClients {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  readonly stop: () => void;

  /** `tasks`: how many tasks a round has. */
  constructor(url: string, tasks: number) {
    this.#child = spawn(process.execPath, [join(import.meta.dirname, "mcp-client-process.ts")], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, MCP_URL: url, TASKS: String(tasks) },
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.stop = cleanUp(() => this.#child.kill());
  }

  /** Resolves to the milliseconds in which all tasks together are done. */
  async round(): Promise<number> {
    this.#child.stdin.write("round\n");
    const line = await this.#lines.next();
    if (line.done === true) throw new Error("the clients of MCP ended");
    return Number(line.value);
  }
}

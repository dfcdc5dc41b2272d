/**
 * Loaded into a server before its own modules. After SIGUSR2 it kills the process in place of storing a text, the one
 * in `KILL_AT`, if it is set: by a write to the redo log, a message to the thread of SQLite, or a statement to
 * PostgreSQL. Clients still get what was shown before. It says on stderr when it is armed.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";
import { Client } from "pg";

const text = process.env["KILL_AT"] ?? "";
/** How long what was shown has to leave the process, in milliseconds. */
const SHOW_MS = 50;
let isArmed = false;
let isDying = false;
process.on("SIGUSR2", () => {
  isArmed = true;
  process.stderr.write("looks out for its end\n"); // As in armed.ts, which needs Vitest.
});

/** Whether the message may leave. None does any more after one that may not. */
function mayLeave(message: () => string): boolean {
  if (isArmed && !isDying && text !== "" && message().includes(text)) {
    isDying = true;
    setTimeout(() => process.kill(process.pid, "SIGKILL"), SHOW_MS);
  }
  return !isDying;
}

/** The store thread is sent lists of requests; no other thread is. */
// oxlint-disable-next-line typescript/unbound-method -- it is called with its own worker below
const { postMessage } = Worker.prototype;
Worker.prototype.postMessage = function (this: Worker, message: unknown, transfer?: never): void {
  if (mayLeave(() => (Array.isArray(message) ? shown(message) : ""))) postMessage.call(this, message, transfer);
};

/** The redo log is the only file that is written so; a write that fails is not shown. */
const { writeSync } = fs;
fs.writeSync = (descriptor: number, bytes: unknown, ...rest: unknown[]): number => {
  const isLog = descriptor > 2 && bytes instanceof Uint8Array;
  if (isLog && !mayLeave(() => Buffer.from(bytes).toString("latin1"))) throw new Error("the process is about to die");
  return Number(Reflect.apply(writeSync, fs, [descriptor, bytes, ...rest]));
};
syncBuiltinESMExports();

// oxlint-disable-next-line typescript/unbound-method -- it is called with its own client below
const { query } = Client.prototype;
Reflect.set(Client.prototype, "query", function (this: Client, ...given: Parameters<typeof query>): unknown {
  const statement = (): string => shown(given[0]).replaceAll('"', "");
  // oxlint-disable-next-line typescript/no-misused-promises -- whatever it returns is returned here
  return mayLeave(statement) ? Reflect.apply(query, this, given) : new Promise(() => {});
});

function shown(message: unknown): string {
  return inspect(message, {
    depth: 12,
    maxArrayLength: null,
    maxStringLength: null,
    breakLength: Infinity,
    compact: true,
  });
}

/**
 * Loaded into a server before its own modules. After SIGUSR2 it kills the process before it sends the store thread a
 * message that holds the text in `KILL_AT`, if it is set.
 */
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";

const text = process.env["KILL_AT"] ?? "";
let isArmed = false;
process.on("SIGUSR2", () => (isArmed = true));

/** The store thread is sent lists of requests; no other thread is. */
// oxlint-disable-next-line typescript/unbound-method -- it is called with its own worker below
const { postMessage } = Worker.prototype;
Worker.prototype.postMessage = function (this: Worker, message: unknown, transfer?: never): void {
  if (isArmed && text !== "" && Array.isArray(message) && shown(message).includes(text))
    process.kill(process.pid, "SIGKILL");
  postMessage.call(this, message, transfer);
};

function shown(message: unknown): string {
  return inspect(message, { depth: 12, maxArrayLength: null, maxStringLength: null, breakLength: Infinity });
}

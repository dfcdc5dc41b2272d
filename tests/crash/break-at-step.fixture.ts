/**
 * Loaded into a server before its own modules. After SIGUSR2 it kills the process in place of sending the store thread
 * a message that holds the text in `KILL_AT`, if it is set. Clients still get what was shown before that message.
 */
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";

const text = process.env["KILL_AT"] ?? "";
/** How long what was shown has to leave the process, in milliseconds. */
const SHOW_MS = 50;
let isArmed = false;
let isDying = false;
process.on("SIGUSR2", () => (isArmed = true));

/** The store thread is sent lists of requests; no other thread is. */
// oxlint-disable-next-line typescript/unbound-method -- it is called with its own worker below
const { postMessage } = Worker.prototype;
Worker.prototype.postMessage = function (this: Worker, message: unknown, transfer?: never): void {
  if (isArmed && !isDying && text !== "" && Array.isArray(message) && shown(message).includes(text)) {
    isDying = true;
    setTimeout(() => process.kill(process.pid, "SIGKILL"), SHOW_MS);
  }
  if (!isDying) postMessage.call(this, message, transfer);
};

function shown(message: unknown): string {
  return inspect(message, { depth: 12, maxArrayLength: null, maxStringLength: null, breakLength: Infinity });
}

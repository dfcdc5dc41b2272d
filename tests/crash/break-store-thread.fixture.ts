/**
 * Loaded into a server before its own modules. `KILL_AT=sent 7` kills the process before it sends the seventh message
 * to the store thread, `KILL_AT=answered 7` when the seventh message of that thread arrives. SIGUSR2 ends that thread
 * alone.
 */
import { Worker } from "node:worker_threads";

const [direction, number] = (process.env["KILL_AT"] ?? "").split(" ");
const counts = { sent: 0, answered: 0 };
let storeThread: Worker | null = null;

function count(kind: keyof typeof counts): void {
  counts[kind] += 1;
  if (kind === direction && counts[kind] === Number(number)) process.kill(process.pid, "SIGKILL");
}

function noteStoreThread(worker: Worker): void {
  storeThread = worker;
}

/** The store thread is sent lists of requests and answers with lists; no other thread does. */
// oxlint-disable-next-line typescript/unbound-method -- both are called with their own worker below
const { postMessage, emit } = Worker.prototype;
Worker.prototype.postMessage = function (this: Worker, message: unknown, transfer?: never): void {
  if (Array.isArray(message)) {
    noteStoreThread(this);
    count("sent");
  }
  postMessage.call(this, message, transfer);
};
Worker.prototype.emit = function (this: Worker, event: string | symbol, ...values: unknown[]): boolean {
  if (event === "message" && Array.isArray(values[0])) count("answered");
  return emit.call(this, event, ...values);
};
process.on("SIGUSR2", () => void storeThread?.terminate());

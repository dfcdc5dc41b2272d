import cluster, { type Worker } from "node:cluster";
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isToPrimary, type ToPrimary, type ToProcess } from "./messages.ts";
import { passOnLines } from "./pass-on-lines.ts";

/** How long messages and log lines of a process may arrive after its end, in milliseconds. */
const CHANNEL_END_MS = 500;

/** How many characters of texts wait for a process at most. */
const UNREAD_CHARACTERS_MAX = 8 * 1024 * 1024;

/** One of several serving processes, as the primary sees it. */
export interface ForkedProcess {
  /** Differs for every process ever started, unlike its number. */
  readonly id: number;
  readonly pid: number;
  /** Resolves to the exit code once the process has ended and its output is passed on; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  send(message: ToProcess): void;
  /** Drops the text if the process reads too slowly. */
  sendIfRoom(message: Extract<ToProcess, { readonly type: "text" }>): void;
  onMessage(listener: (message: ToPrimary) => void): void;
  kill(): void;
}

/**
 * Starts this program again as a serving process, with these variables besides its own. Its log comes through the
 * primary, which writes whole lines, so that lines of several processes never mix. The process also gets these sockets,
 * behind its channel to the primary.
 */
export function forkProcess(
  sockets: readonly number[] = [],
  environment: Readonly<Record<string, string>> = {},
): ForkedProcess {
  process.execPath = nodeAsCalled(); // The cluster starts its processes with it.
  cluster.setupPrimary({ stdio: ["ignore", "pipe", "inherit", "ipc", ...sockets] });
  const worker = cluster.fork(environment);
  const { stdout, pid = 0 } = worker.process;
  let unread = 0;
  const passedOn = stdout === null ? Promise.resolve() : passOnLines(stdout, process.stdout);
  return {
    id: worker.id,
    pid,
    ended: endOf(worker, passedOn),
    sendIfRoom: (message) => {
      const { length } = message.text;
      if (!worker.isConnected() || unread + length > UNREAD_CHARACTERS_MAX) return;
      unread += length;
      worker.send(message, () => (unread -= length));
    },
    send: (message) => {
      // A process that is ending may close its channel at any time.
      if (worker.isConnected()) worker.send(message, () => {});
    },
    onMessage: (listener) => {
      worker.on("message", (message: unknown) => {
        if (isToPrimary(message)) listener(message);
      });
    },
    kill: () => void worker.process.kill("SIGKILL"),
  };
}

/**
 * The program that runs this one, by the path that it was called with. If a release of this program is replaced under a
 * link in that path, processes that start later run the new one.
 */
function nodeAsCalled(): string {
  return isAbsolute(process.argv0) && existsSync(process.argv0) ? process.argv0 : process.execPath;
}

/**
 * Waits for the end of the channel too, because the last messages may arrive after the process has ended. But not for
 * long: Node never reports it if the process was killed while it was handed a connection.
 */
async function endOf(worker: Worker, passedOn: Promise<void>): Promise<number | null> {
  worker.on("error", () => {}); // A message that could not be sent; the end follows.
  const channelEnded = eventOf(worker, "disconnect");
  await eventOf(worker, "exit");
  await Promise.race([Promise.all([channelEnded, passedOn]), sleep(CHANNEL_END_MS)]);
  return worker.process.exitCode;
}

function eventOf(worker: Worker, event: "exit" | "disconnect"): Promise<void> {
  return new Promise((resolve) => void worker.once(event, () => resolve()));
}

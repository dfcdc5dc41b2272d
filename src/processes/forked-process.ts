import cluster, { type Worker } from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import { isToPrimary, type ToPrimary, type ToProcess } from "./messages.ts";
import { passOnLines } from "./pass-on-lines.ts";
import { currentRelease, runningRelease } from "./release.ts";

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
  /** `onSent`: it was written, or never will be. */
  send(message: ToProcess, onSent?: () => void): void;
  /** Drops the text if the process reads too slowly. */
  sendIfRoom(message: Extract<ToProcess, { readonly type: "text" }>): void;
  onMessage(listener: (message: ToPrimary) => void): void;
  kill(): void;
}

/**
 * Starts this program again as a serving process, with these variables besides its own. Its log comes through the
 * primary, which writes whole lines, so that lines of several processes never mix. A process that gets sockets has them
 * behind its channel to the primary, and is of the primary's release: another primary starts those of the next one.
 * Without sockets it is of the release that is current by then.
 */
export function forkProcess(
  sockets: readonly number[] = [],
  environment: Readonly<Record<string, string>> = {},
): ForkedProcess {
  const { node, main } = sockets.length > 0 ? runningRelease() : currentRelease();
  process.execPath = node; // The cluster starts its processes with it.
  cluster.setupPrimary({ exec: main, stdio: ["ignore", "pipe", "inherit", "ipc", ...sockets] });
  const worker = cluster.fork(environment);
  const { stdout, pid = 0 } = worker.process;
  let unread = 0;
  const passedOn = stdout === null ? Promise.resolve() : passOnLines(stdout, process.stdout);
  return {
    id: worker.id,
    pid,
    ended: exitCode(worker, passedOn),
    sendIfRoom: (message) => {
      const { length } = message.text;
      if (!worker.isConnected() || unread + length > UNREAD_CHARACTERS_MAX) return;
      unread += length;
      worker.send(message, () => (unread -= length));
    },
    send: (message, onSent = () => {}) => {
      // A process that is ending may close its channel at any time.
      if (worker.isConnected()) worker.send(message, onSent);
      else onSent();
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
 * Waits for the end of the channel too, because the last messages may arrive after the process has ended. But not for
 * long: Node never reports it if the process was killed while it was handed a connection.
 */
async function exitCode(worker: Worker, passedOn: Promise<void>): Promise<number | null> {
  worker.on("error", () => {}); // A message that could not be sent; the end follows.
  const channelEnded = eventOf(worker, "disconnect");
  await eventOf(worker, "exit");
  await Promise.race([Promise.all([channelEnded, passedOn]), sleep(CHANNEL_END_MS)]);
  return worker.process.exitCode;
}

function eventOf(worker: Worker, event: "exit" | "disconnect"): Promise<void> {
  return new Promise((resolve) => void worker.once(event, () => resolve()));
}

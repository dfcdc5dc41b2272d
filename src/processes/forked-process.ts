import cluster, { type Worker } from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import { isToPrimary, type ToPrimary, type ToProcess } from "./messages.ts";
import { passOnLines } from "./pass-on-lines.ts";
import { currentRelease, runningRelease } from "./release.ts";

/** How long messages and log lines of a process may arrive after its end, in milliseconds. */
const CHANNEL_END_MS = 500;

/** The maximum characters of texts waiting for a process. */
const UNREAD_CHARACTERS_MAX = 8 * 1024 * 1024;

/** One of several serving processes, from the primary's side. */
export interface ForkedProcess {
  /** Unique among all processes ever started, unlike its number. */
  readonly id: number;
  readonly pid: number;
  /** Resolves to the exit code once the process has ended and its output was copied; null if a signal ended it. */
  readonly exit: Promise<number | null>;
  /** `onSent`: called when it was written, or never will be. */
  send(message: ToProcess, onSent?: () => void): void;
  /** Drops the text if the process reads too slowly. */
  sendIfRoom(message: Extract<ToProcess, { readonly type: "text" }>): void;
  onMessage(listener: (message: ToPrimary) => void): void;
  kill(): void;
}

/**
 * Starts this program again as a serving process, with these additional variables. The primary copies its log in whole
 * lines, so that lines of several processes never mix. A process with sockets gets them after its channel to the
 * primary, and runs the primary's release: another primary starts the next release. Without sockets, it runs the
 * current release.
 */
export function forkProcess(
  sockets: readonly number[] = [],
  environment: Readonly<Record<string, string>> = {},
): ForkedProcess {
  const { node, main } = sockets.length > 0 ? runningRelease() : currentRelease();
  process.execPath = node; // The cluster starts its processes with this path.
  cluster.setupPrimary({ exec: main, stdio: ["ignore", "pipe", "inherit", "ipc", ...sockets] });
  const worker = cluster.fork(environment);
  const { stdout, pid = 0 } = worker.process;
  let unread = 0;
  const passedOn = stdout === null ? Promise.resolve() : passOnLines(stdout, process.stdout);
  return {
    id: worker.id,
    pid,
    exit: exitCode(worker, passedOn),
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
 * Also waits for the end of the channel, because the last messages may arrive after the process has ended. The wait is
 * short: Node never reports the end if the process was killed while it received a connection.
 */
async function exitCode(worker: Worker, passedOn: Promise<void>): Promise<number | null> {
  worker.on("error", () => {}); // A message could not be sent; the end follows.
  const channelEnded = eventOf(worker, "disconnect");
  await eventOf(worker, "exit");
  await Promise.race([Promise.all([channelEnded, passedOn]), sleep(CHANNEL_END_MS)]);
  return worker.process.exitCode;
}

function eventOf(worker: Worker, event: "exit" | "disconnect"): Promise<void> {
  return new Promise((resolve) => void worker.once(event, () => resolve()));
}

/**
 * Carries short texts between the processes that serve one database. It may lose, double, delay or reorder them, and
 * nothing waits for it: what matters is in the database.
 */
export interface Broker {
  /** How many bytes of UTF-8 a text may have. */
  readonly textBytesMax: number;
  /** Whether texts can be sent and heard, as far as is known. */
  readonly isConnected: boolean;
  /** Calls `hear` with each text that arrives on a joined channel, from now on. Called once. */
  open(hear: (text: string) => void): void;
  /** From soon on, hears the texts that are sent to a channel, also after it was connected anew. */
  join(channel: string): void;
  leave(channel: string): void;
  /** Returns false if the text is dropped at once. Never throws. */
  send(channel: string, text: string): boolean;
  /** Sends what waits, as far as that takes no time, and ends. */
  close(): Promise<void>;
}

/** Told of what the bus does, for metrics. No method may throw. */
export interface BusObserver {
  sent(): void;
  heard(): void;
  dropped(reason: DropReason): void;
  /** A broker was connected again. */
  reconnected(): void;
  /** The time from a question to another process until its answer, in milliseconds. */
  answered(ms: number): void;
  /** Readers were fed from the database, because messages of a worker were missing. */
  caughtUp(reason: "missed" | "silent"): void;
}

/** `full`: too much waits to be sent; `away`: no connection; `unread`: another version, or no message of ours. */
export type DropReason = "full" | "away" | "unread";

export const silentBusObserver: BusObserver = {
  sent() {},
  heard() {},
  dropped() {},
  reconnected() {},
  answered() {},
  caughtUp() {},
};

/** The channel that every process hears. */
export const EVERYONE = "all";

/** The channel of the process that holds a worker number now. */
export function workerChannel(worker: number): string {
  return `w${worker}`;
}

/** The channel of one process, by the name that it made for itself. */
export function peerChannel(peer: string): string {
  return `p${peer}`;
}

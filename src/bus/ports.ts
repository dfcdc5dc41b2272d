/**
 * Relays short texts between the processes that share a database. It may lose, duplicate, delay or reorder them, and
 * nothing waits for it: the database has the important data.
 */
export interface Broker {
  /** The maximum bytes of a text in UTF-8. */
  readonly textBytesMax: number;
  /** Whether texts can be sent and received, as far as known. */
  readonly isConnected: boolean;
  /** From now on, calls `hear` with each text on a joined channel. Call it once. */
  open(hear: (text: string) => void): void;
  /** Subscribes to a channel, soon and after each reconnection. */
  join(channel: string): void;
  leave(channel: string): void;
  /** Returns false if the text is dropped at once. Never throws. */
  send(channel: string, text: string): boolean;
  /** Sends waiting texts if that is immediate, then ends. */
  close(): Promise<void>;
}

/** Observes the bus, for metrics. No method may throw. */
export interface BusObserver {
  countSent(): void;
  countReceived(): void;
  countDrop(reason: DropReason): void;
  /** A broker was reconnected. */
  countReconnect(): void;
  /** The round-trip time of a request to another process, in milliseconds. */
  noteAnswer(ms: number): void;
  /** Readers were fed from the database, because messages of a worker were missing. */
  caughtUp(reason: "missed" | "silent"): void;
}

/** `full`: too many waiting; `away`: no connection; `unread`: another version, or not our message. */
export type DropReason = "full" | "away" | "unread";

export const silentBusObserver: BusObserver = {
  countSent() {},
  countReceived() {},
  countDrop() {},
  countReconnect() {},
  noteAnswer() {},
  caughtUp() {},
};

/** The channel of all processes. */
export const EVERYONE = "all";

/** The channel of the process that currently holds a worker number. */
export function workerChannel(worker: number): string {
  return `w${worker}`;
}

/** The channel of one process, by the name that it generated for itself. */
export function peerChannel(peer: string): string {
  return `p${peer}`;
}

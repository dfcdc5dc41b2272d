import { setTimeout as sleep } from "node:timers/promises";
import { Deadline } from "@antiphon/base/limits/deadline.ts";
import type { RunningServer } from "@antiphon/http-kit/http/server.ts";

/** How a server shuts down. */
export interface Leaving {
  /** Whether another process already serves on the same addresses. */
  readonly isReplaced: boolean;
  /** Aborts when open requests and runs must end; null for `DRAIN_MS` after the server stops accepting connections. */
  readonly until: AbortSignal | null;
}

const ON_ITS_OWN: Leaving = { isReplaced: false, until: null };

/** The same for whoever calls it later. */
export function closingOnce(close: (leaving: Leaving) => Promise<void>): (leaving?: Leaving) => Promise<void> {
  let closing: Promise<void> | null = null;
  return (leaving = ON_ITS_OWN) => (closing ??= close(leaving));
}

/** Says that this server is about to end, and waits until load balancers know. */
export async function announceLeaving(
  server: Pick<RunningServer, "announceLeaving">,
  stopping: AbortController,
  delayMs: number,
): Promise<void> {
  stopping.abort();
  server.announceLeaving();
  await sleep(delayMs);
}

/** Runs these steps one after the other. Their signal aborts when open requests and runs must end. */
export async function drain(
  steps: readonly ((until: AbortSignal) => Promise<unknown>)[],
  drainMs: number,
  signal: AbortSignal | null,
): Promise<void> {
  const deadline = new Deadline(drainMs);
  for (const step of steps) await step(signal ?? deadline.signal);
  deadline.clear();
}

/** Closes the parts one after the other. */
export async function closeAll(...parts: readonly ({ close(): Promise<void> } | null)[]): Promise<void> {
  for (const part of parts) await part?.close();
}

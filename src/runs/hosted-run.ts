import { ReplyCut } from "@antiphon/base/reply-cut.ts";
import type { EventTimes } from "./ports/event-times.ts";
import type { Subscription } from "./reading/live-feed.ts";
import type { QueuedRun } from "./start-run.ts";

/** A run of this process. */
export interface HostedRun {
  readonly responseId: string;
  /** The response that it continues, or null. */
  readonly previousId: string | null;
  readonly controller: AbortController;
  /** Null until the run has begun. */
  run: HostableRun | null;
  /** Whether its model was called. */
  hasBegun: boolean;
  readonly completion: Promise<void>;
  /** Call when this process is done with the run. */
  readonly end: () => void;
}

/** The parts of a run that a host needs. */
export interface HostableRun {
  readonly subscribe: () => Subscription;
  /** As in `LiveRun`. */
  readonly times: EventTimes | null;
  /** Whether the run is stored, so that another worker could continue it. */
  readonly isStored: () => boolean;
  /** As in `PlainRun`. Null for a run that is stored from its beginning, or never. */
  readonly storeNow: (() => Promise<void>) | null;
}

/** The host's view of a run that is stored from its beginning, or never. */
export function hostable({ subscribe, times }: Pick<QueuedRun, "subscribe" | "times">, isStored: boolean): HostableRun {
  return { subscribe, times, isStored: () => isStored, storeNow: null };
}

/** Cancels the run when its client leaves. Returns a function that stops watching the client. */
export function stopWithClient({ controller }: HostedRun, client: AbortSignal, isStored: boolean): () => void {
  const leave = (): void => {
    const isCancelled = !isStored || !(client.reason instanceof ReplyCut);
    // A reader whose reply was cut can read the rest from the log.
    if (isCancelled) controller.abort(client.reason);
  };
  client.addEventListener("abort", leave, { once: true });
  if (client.aborted) leave();
  return () => client.removeEventListener("abort", leave);
}

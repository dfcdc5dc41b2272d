import type { Logger } from "../../base/logger.ts";
import type { BusObserver } from "../ports.ts";

/** What the brokers on a network have in common. */
export interface BrokerParts {
  readonly url: string;
  readonly observer: Pick<BusObserver, "dropped" | "reconnected">;
  readonly log: Logger;
}

/** How long a connection, an answer or the end of one may take, in milliseconds. */
export const BROKER_TIMEOUT_MS = 2_000;
/** How often an idle connection is tried, in milliseconds. */
export const PING_EVERY_MS = 1_000;
const FIRST_WAIT_MS = 50;
const WAIT_MS_MAX = 3_000;

/** How long to wait before the next attempt to connect, in milliseconds. Servers do not all come back at once. */
export function waitBeforeAttempt(failures: number): number {
  const wait = Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** Math.min(failures, 10));
  return Math.round(wait * (0.5 + Math.random() / 2));
}

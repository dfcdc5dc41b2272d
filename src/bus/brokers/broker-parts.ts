import type { Logger } from "@antiphon/base/logger.ts";
import type { BusObserver } from "../ports.ts";

/** The common parts of brokers on a network. */
export interface BrokerParts {
  readonly url: string;
  readonly observer: Pick<BusObserver, "countDrop" | "countReconnect">;
  readonly log: Logger;
}

/** The time limit for connecting, for a reply and for disconnecting, in milliseconds. */
export const BROKER_TIMEOUT_MS = 2_000;
/** The interval of pings on an idle connection, in milliseconds. */
export const PING_EVERY_MS = 1_000;
const FIRST_WAIT_MS = 50;
const WAIT_MS_MAX = 3_000;

/** The pause before the next attempt to connect, in milliseconds. Random, so that servers do not all return at once. */
export function waitBeforeAttempt(failures: number): number {
  const wait = Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** Math.min(failures, 10));
  return Math.round(wait * (0.5 + Math.random() / 2));
}

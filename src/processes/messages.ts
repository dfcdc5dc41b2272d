import { isRecord } from "@antiphon/base/json/records.ts";
import type { RateAsk, RateCorrection, RateGrant, RatePlace } from "../rate-limits/shared-counts.ts";

/** The place of a process among several. */
export interface Seat {
  /** From 1. A replacement has the number of its predecessor. */
  readonly number: number;
  /** The number of serving processes. */
  readonly count: number;
  /** The local speech server; null in the process that serves it, and until it is known. */
  readonly speechUrl: string | null;
}

/** The report of a process that serves. */
export interface Greeting {
  /** Lines of the start banner. */
  readonly lines: readonly string[];
  /** The local speech server, if this process serves it. */
  readonly speechUrl: string | null;
}

/** From a serving process to the primary. `call` links a request and its reply. */
export type ToPrimary =
  | { readonly type: "join"; readonly call: number }
  | { readonly type: "serving"; readonly greeting: Greeting }
  /** A line for the operator that became known after the process began to serve. */
  | { readonly type: "told"; readonly line: string }
  | { readonly type: "takeRate"; readonly call: number; readonly ask: RateAsk }
  | { readonly type: "correctRate"; readonly correction: RateCorrection }
  | { readonly type: "blockReturned"; readonly call: number; readonly rest: number }
  /** A scrape: the process sends its own metrics and requests those of all. */
  | { readonly type: "scrape"; readonly call: number; readonly text: string }
  /** `call` is null for the last metrics of a process that ends. */
  | { readonly type: "measured"; readonly call: number | null; readonly text: string }
  /** Subscribes to a channel, or unsubscribes. */
  | { readonly type: "joinChannel" | "leaveChannel"; readonly channel: string }
  /** A text for all processes on a channel. */
  | { readonly type: "sendText"; readonly channel: string; readonly text: string };

/** From the primary to a serving process. */
export type ToProcess =
  | { readonly type: "seat"; readonly call: number; readonly seat: Seat }
  | { readonly type: "rateGranted"; readonly call: number; readonly grant: RateGrant }
  | { readonly type: "recallBlock"; readonly call: number; readonly place: RatePlace }
  | { readonly type: "scraped"; readonly call: number; readonly text: string }
  | { readonly type: "measure"; readonly call: number }
  | { readonly type: "speechMoved"; readonly url: string }
  /** A text from a joined channel. */
  | { readonly type: "text"; readonly text: string }
  /** Finish open work, then end. `isReplaced`: another process already serves in its place. */
  | { readonly type: "leave"; readonly isReplaced: boolean };

const TO_PRIMARY: ReadonlySet<unknown> = new Set<ToPrimary["type"]>([
  "join",
  "serving",
  "told",
  "takeRate",
  "correctRate",
  "blockReturned",
  "scrape",
  "measured",
  "joinChannel",
  "leaveChannel",
  "sendText",
]);

const TO_PROCESS: ReadonlySet<unknown> = new Set<ToProcess["type"]>([
  "seat",
  "rateGranted",
  "recallBlock",
  "scraped",
  "measure",
  "speechMoved",
  "text",
  "leave",
]);

/** Both ends are the same program, so checking the type is enough. */
export function isToPrimary(message: unknown): message is ToPrimary {
  return isRecord(message) && TO_PRIMARY.has(message["type"]);
}

export function isToProcess(message: unknown): message is ToProcess {
  return isRecord(message) && TO_PROCESS.has(message["type"]);
}

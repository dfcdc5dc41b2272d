import { isRecord } from "../base/json/records.ts";
import type { RateAsk, RateCorrection, RateGrant, RatePlace } from "../rate-limits/shared-counts.ts";

/** Which of several processes this is. */
export interface Seat {
  /** From 1. A process that replaces another has its number. */
  readonly number: number;
  /** How many processes serve. */
  readonly count: number;
  /** The local speech server; null for the process that serves it, and until it is known. */
  readonly speechUrl: string | null;
}

/** What a process tells when it serves. */
export interface Greeting {
  /** Lines of the start banner. */
  readonly lines: readonly string[];
  /** The local speech server, if this process serves it. */
  readonly speechUrl: string | null;
}

/** A serving process writes to the primary. `call` connects a question and its answer. */
export type ToPrimary =
  | { readonly type: "join"; readonly call: number }
  | { readonly type: "serving"; readonly greeting: Greeting }
  /** A line for the operator that was not known yet when the process began to serve. */
  | { readonly type: "told"; readonly line: string }
  | { readonly type: "takeRate"; readonly call: number; readonly ask: RateAsk }
  | { readonly type: "correctRate"; readonly correction: RateCorrection }
  | { readonly type: "blockReturned"; readonly call: number; readonly rest: number }
  /** A scrape: the process sends its own metrics and asks for those of all. */
  | { readonly type: "scrape"; readonly call: number; readonly text: string }
  /** `call` is null for the last reading of a process that ends. */
  | { readonly type: "measured"; readonly call: number | null; readonly text: string }
  /** The process hears a channel from now on, or no longer. */
  | { readonly type: "joinChannel" | "leaveChannel"; readonly channel: string }
  /** A text for all processes that hear a channel. */
  | { readonly type: "sendText"; readonly channel: string; readonly text: string };

/** The primary writes to a serving process. */
export type ToProcess =
  | { readonly type: "seat"; readonly call: number; readonly seat: Seat }
  | { readonly type: "rateGranted"; readonly call: number; readonly grant: RateGrant }
  | { readonly type: "recallBlock"; readonly call: number; readonly place: RatePlace }
  | { readonly type: "scraped"; readonly call: number; readonly text: string }
  | { readonly type: "measure"; readonly call: number }
  | { readonly type: "speechMoved"; readonly url: string }
  /** A text from a channel that the process hears. */
  | { readonly type: "text"; readonly text: string }
  /** Finish what is open, then end. `isReplaced`: another process already serves in its place. */
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

/** Both ends are of the same program, so the type names the whole shape. */
export function isToPrimary(message: unknown): message is ToPrimary {
  return isRecord(message) && TO_PRIMARY.has(message["type"]);
}

export function isToProcess(message: unknown): message is ToProcess {
  return isRecord(message) && TO_PROCESS.has(message["type"]);
}

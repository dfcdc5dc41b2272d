import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";

/** A message of another version is ignored: its receiver polls the database instead. */
const VERSION = 1;

/** Messages between processes. `from` is the name that a process generated for itself. */
export type BusMessage =
  /** To a worker: subscribes to these runs for `INTEREST_MS`. `sentAt` is echoed. */
  | {
      readonly type: "watch";
      readonly from: string;
      readonly sentAt: number;
      readonly runs: readonly RunSubscription[];
    }
  /** To a worker: unsubscribes from these runs. */
  | { readonly type: "unwatch"; readonly from: string; readonly ids: readonly string[] }
  /** From a worker to a subscriber of its runs. */
  | RunUpdates
  /** To a worker: check whether some of these runs have a requested stop or were deleted. */
  | { readonly type: "stop"; readonly ids: readonly string[] }
  /** To all: a worker has taken these runs. */
  | { readonly type: "taken"; readonly ids: readonly string[] }
  /** To all: there are runs that nobody makes. */
  | { readonly type: "work" }
  /** To all: an API key was changed. */
  | { readonly type: "keys" };

export interface RunSubscription {
  readonly id: string;
  /** The number of the last event that the subscriber has; null if it only needs the end. */
  readonly after: number | null;
}

/**
 * Events of a worker's runs for a subscriber. `number` counts the messages to this subscriber, so that a missing one is
 * noticed. `series` identifies the count, which restarts after the worker forgot the subscriber.
 */
export interface RunUpdates {
  readonly type: "news";
  readonly worker: number;
  readonly series: string;
  readonly number: number;
  /** The `sentAt` of the answered request, or null. */
  readonly echo: number | null;
  readonly items: readonly UpdateItem[];
}

export type UpdateItem =
  /** The events `first` to `last` of a run, as lines of `event-blocks/`. */
  | {
      readonly type: "events";
      readonly id: string;
      readonly first: number;
      readonly last: number;
      readonly lines: string;
    }
  /** The log has events up to `last` that were not sent; −1 if the number is unknown. */
  | { readonly type: "logged"; readonly id: string; readonly last: number }
  /** The subscription to this run is active; `last` is the number of its last event, or −1. */
  | { readonly type: "watched"; readonly id: string; readonly last: number }
  /** The worker does not make this run, or no longer. */
  | { readonly type: "left"; readonly id: string };

type UpdateHead =
  | readonly [type: "events", id: string, first: number, last: number, lines: number]
  | readonly [type: "logged" | "watched", id: string, last: number]
  | readonly [type: "left", id: string];

/** A line of JSON; the lines of events follow unchanged. */
export function writeMessage(message: BusMessage): string {
  if (message.type !== "news") return JSON.stringify({ v: VERSION, ...message });
  const { items, ...rest } = message;
  const lines = items.flatMap((item) => (item.type === "events" ? [item.lines] : []));
  return [JSON.stringify({ v: VERSION, ...rest, items: items.map(headOf) }), ...lines].join("\n");
}

function headOf(item: UpdateItem): UpdateHead {
  if (item.type === "events") return [item.type, item.id, item.first, item.last, item.lines.split("\n").length];
  return item.type === "left" ? [item.type, item.id] : [item.type, item.id, item.last];
}

/** Null if the text is not a message of this version. */
export function readMessage(text: string): BusMessage | null {
  const end = text.indexOf("\n");
  const head = jsonOrUndefined(end === -1 ? text : text.slice(0, end));
  if (!isRecord(head) || head["v"] !== VERSION) return null;
  switch (head["type"]) {
    case "watch":
      return readWatch(head);
    case "unwatch":
      return isText(head["from"]) && isTexts(head["ids"])
        ? { type: "unwatch", from: head["from"], ids: head["ids"] }
        : null;
    case "news":
      return readUpdates(head, end === -1 ? [] : text.slice(end + 1).split("\n"));
    case "stop":
    case "taken":
      return isTexts(head["ids"]) ? { type: head["type"], ids: head["ids"] } : null;
    case "work":
    case "keys":
      return { type: head["type"] };
    default:
      return null;
  }
}

function readWatch({ from, sentAt, runs }: Readonly<Record<string, unknown>>): BusMessage | null {
  if (!isText(from) || !isNumber(sentAt) || !Array.isArray(runs)) return null;
  const read = runs.map(readSubscription);
  return read.every((run) => run !== null) ? { type: "watch", from, sentAt, runs: read } : null;
}

function readSubscription(run: unknown): RunSubscription | null {
  if (!isRecord(run)) return null;
  const { id, after } = run;
  return isText(id) && (after === null || isNumber(after)) ? { id, after } : null;
}

function readUpdates(head: Readonly<Record<string, unknown>>, lines: readonly string[]): RunUpdates | null {
  const { worker, series, number, echo, items } = head;
  if (!isNumber(worker) || !isText(series) || !isNumber(number) || !Array.isArray(items)) return null;
  let at = 0;
  const read = items.map((item: unknown) => {
    const [updateItem, length] = readItem(item, lines, at);
    at += length;
    return updateItem;
  });
  if (!read.every((item) => item !== null) || at !== lines.length) return null;
  return { type: "news", worker, series, number, echo: isNumber(echo) ? echo : null, items: read };
}

/** The item, or null if it cannot be read, and the number of its lines from `at` on. */
function readItem(head: unknown, lines: readonly string[], at: number): readonly [UpdateItem | null, number] {
  if (!Array.isArray(head)) return [null, 0];
  const [type, id, number, last, count]: readonly unknown[] = head;
  if (!isText(id)) return [null, 0];
  if (type === "left") return [{ type, id }, 0];
  if (!isNumber(number)) return [null, 0];
  if (type === "logged" || type === "watched") return [{ type, id, last: number }, 0];
  if (type !== "events" || !isNumber(last) || !isNumber(count) || count < 1) return [null, 0];
  return [{ type, id, first: number, last, lines: lines.slice(at, at + count).join("\n") }, count];
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText);
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

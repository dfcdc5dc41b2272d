import { membersAt, numberAt, textAt } from "../base/members.ts";
import type { LoggedEvent } from "./run-log.ts";

/** What the events say about the speed of a run. All times in milliseconds since it was created. */
export interface RunTimes {
  /** When work began; null if that is not known. */
  readonly startedMs: number | null;
  /** When the first piece of text, reasoning or arguments came. */
  readonly firstTokenMs: number | null;
  readonly endedMs: number | null;
  /** Output tokens for each second between the first and the last delta; null if there are too few to tell. */
  readonly tokensPerSecond: number | null;
}

const DELTA = /[.]delta$/;
const ENDING = /^response[.](completed|incomplete|failed)$/;
/** Below this span a rate says nothing. */
const SPAN_MS_MIN = 20;

export function timesOf(events: readonly LoggedEvent[], outputTokens: number | null): RunTimes {
  const timeOf = (found: LoggedEvent | undefined): number | null => found?.atMs ?? null;
  const deltas = events.filter(({ event }) => DELTA.test(event.type));
  const first = timeOf(deltas[0]);
  const last = timeOf(deltas.at(-1));
  const spanMs = first === null || last === null ? 0 : last - first;
  return {
    startedMs: timeOf(events.find(({ event }) => event.type === "response.in_progress")),
    firstTokenMs: first,
    endedMs: timeOf(events.findLast(({ event }) => ENDING.test(event.type))),
    tokensPerSecond:
      outputTokens === null || outputTokens < 2 || spanMs < SPAN_MS_MIN ? null : (outputTokens / spanMs) * 1000,
  };
}

/** Milliseconds from the first to the last event of each item, by its id. */
export function itemDurationsMs(events: readonly LoggedEvent[]): ReadonlyMap<string, number> {
  const spans = new Map<string, { readonly fromMs: number; readonly toMs: number }>();
  for (const { event, atMs } of events) {
    const id = textAt(event, "item_id") || textAt(membersAt(event, "item"), "id");
    if (id !== "" && atMs !== null) spans.set(id, { fromMs: spans.get(id)?.fromMs ?? atMs, toMs: atMs });
  }
  return new Map([...spans].map(([id, { fromMs, toMs }]) => [id, toMs - fromMs]));
}

/** A line of the timeline. */
export interface Lane {
  readonly key: string;
  readonly label: string;
  readonly kind: "queue" | "reasoning" | "message" | "tool" | "wait";
  /** The times that it covers. */
  readonly stretches: readonly Stretch[];
  /** Indices of the first and last of its events. */
  readonly from: number;
  readonly to: number;
}

/** A stretch of time, in milliseconds since the run was created. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A wait between items that is shorter than this, or than this share of the run, is not shown. */
const WAIT_MS_MIN = 20;
const WAIT_SHARE_MIN = 0.01;

/** One lane for the wait in the queue, one for each item, and one for the time when nothing came. */
export function lanesOf(events: readonly LoggedEvent[]): Lane[] {
  const items = itemLanes(events);
  const startedMs = events.find(({ event }) => event.type === "response.in_progress")?.atMs ?? null;
  const started = events.findIndex(({ event }) => event.type === "response.in_progress");
  const totalMs = events.at(-1)?.atMs ?? null;
  if (startedMs === null || totalMs === null || items.length === 0) return items;
  const queue: Lane = {
    key: "queue",
    label: "Queue",
    kind: "queue",
    stretches: [{ fromMs: 0, toMs: startedMs }],
    from: 0,
    to: started,
  };
  const waits = gapsBetween(items, { fromMs: startedMs, totalMs });
  const wait: Lane = { key: "wait", label: "Waiting", kind: "wait", stretches: waits, from: started, to: started };
  const isQueued = events.some(({ event }) => event.type === "response.queued");
  return [...(isQueued ? [queue] : []), ...items, ...(waits.length === 0 ? [] : [wait])];
}

function itemLanes(events: readonly LoggedEvent[]): Lane[] {
  const lanes: Lane[] = [];
  const open = new Map<number, number>();
  for (const [index, { event, atMs }] of events.entries()) {
    const place = numberAt(event, "output_index");
    if (place === null || atMs === null) continue;
    const known = open.get(place);
    const lane = known === undefined ? undefined : lanes[known];
    if (known !== undefined && lane !== undefined) {
      const fromMs = lane.stretches[0]?.fromMs ?? atMs;
      lanes[known] = { ...lane, to: index, stretches: [{ fromMs, toMs: atMs }] };
    } else {
      open.set(place, lanes.length);
      const shown = laneKind(membersAt(event, "item"));
      lanes.push({ key: `item-${place}`, ...shown, from: index, to: index, stretches: [{ fromMs: atMs, toMs: atMs }] });
    }
  }
  return lanes;
}

/** The stretches in which no item was open. */
function gapsBetween(lanes: readonly Lane[], { fromMs, totalMs }: { fromMs: number; totalMs: number }): Stretch[] {
  const gaps: Stretch[] = [];
  const least = Math.max(WAIT_MS_MIN, totalMs * WAIT_SHARE_MIN);
  let reachedMs = fromMs;
  for (const stretch of lanes
    .flatMap(({ stretches }) => stretches)
    .toSorted((one, other) => one.fromMs - other.fromMs)) {
    if (stretch.fromMs - reachedMs >= least) gaps.push({ fromMs: reachedMs, toMs: stretch.fromMs });
    reachedMs = Math.max(reachedMs, stretch.toMs);
  }
  return gaps;
}

function laneKind(item: Readonly<Record<string, unknown>>): Pick<Lane, "label" | "kind"> {
  const type = textAt(item, "type");
  if (type === "message") return { label: "Message", kind: "message" };
  if (type === "reasoning") return { label: "Reasoning", kind: "reasoning" };
  const name = textAt(item, "name");
  return { label: name === "" ? toolTitle(type) : name, kind: "tool" };
}

/** `web_search_call` becomes `Web search`. */
export function toolTitle(type: string): string {
  const words = type.replace(/_call$/, "").replaceAll("_", " ");
  return words.replace(/^mcp/, "MCP").replace(/^\w/, (letter) => letter.toUpperCase());
}

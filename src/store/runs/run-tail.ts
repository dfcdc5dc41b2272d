import type { RecordedEvent } from "../../runs/ports.ts";

/** A chunk is full when it has this many events, */
export const CHUNK_EVENTS = 256;
/** or this many characters; the event that reaches it still goes in, however long. */
export const CHUNK_CHARACTERS = 64 * 1024;
/**
 * A commit that brings a run this much text at once makes a chunk of it right away: to store it a second time later
 * would cost more than the rows saved.
 */
export const BURST_CHARACTERS = 8 * 1024;

/** The newest events of a live run: stored in the journal, and in no chunk yet. */
export interface RunTail {
  readonly firstNumber: number;
  /** The number the next event must have. */
  readonly nextNumber: number;
  /** The JSON of the tail's events, one a line. */
  readonly body: string;
}

/** Events with all numbers from the first to the last. */
export interface Chunk {
  readonly firstNumber: number;
  readonly lastNumber: number;
  /** The JSON of the events, one a line. */
  readonly body: string;
}

export interface TailStep {
  readonly tail: RunTail;
  /** What is to be stored for good. Holds the tail that was, if there is any. */
  readonly chunks: readonly Chunk[];
  /** The rest, for the journal. */
  readonly journaled: Chunk | null;
}

export function emptyTail(nextNumber: number): RunTail {
  return { firstNumber: nextNumber, nextNumber, body: "" };
}

/** Decides where events that follow a tail are stored. `finish` leaves no tail behind. Pure. */
export function extendTail(before: RunTail, events: readonly RecordedEvent[], finish: boolean): TailStep {
  const chunks: Chunk[] = [];
  let open: RunTail = before; // The stored part of the chunk that is being filled,
  let taken = 0; // and the first event that comes after it.
  let length = open.body.length;

  const finishChunk = (end: number): void => {
    const body = joinLines(open.body, textOf(events, taken, end));
    const nextNumber = open.nextNumber + end - taken;
    if (body !== "") chunks.push({ firstNumber: open.firstNumber, lastNumber: nextNumber - 1, body });
    open = emptyTail(nextNumber);
    taken = end;
    length = 0;
  };
  for (const [index, event] of events.entries()) {
    length += event.json.length;
    if (event.number + 1 - open.firstNumber >= CHUNK_EVENTS || length >= CHUNK_CHARACTERS) finishChunk(index + 1);
  }
  if (finish || length - open.body.length >= BURST_CHARACTERS) finishChunk(events.length);

  const fresh = textOf(events, taken, events.length);
  if (fresh === "") return { tail: open, chunks, journaled: null };
  const nextNumber = open.nextNumber + events.length - taken;
  return {
    tail: { firstNumber: open.firstNumber, nextNumber, body: joinLines(open.body, fresh) },
    chunks,
    journaled: { firstNumber: open.nextNumber, lastNumber: nextNumber - 1, body: fresh },
  };
}

function textOf(events: readonly RecordedEvent[], start: number, end: number): string {
  return events
    .slice(start, end)
    .map((event) => event.json)
    .join("\n");
}

/** JSON text has no line breaks, so they can stand between events. */
function joinLines(above: string, below: string): string {
  return above === "" || below === "" ? above + below : `${above}\n${below}`;
}

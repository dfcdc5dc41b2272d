import type { RecordedEvent } from "../../runs/ports.ts";

/** A chunk is full once it has this many events, */
export const CHUNK_EVENTS = 256;
/** or this many characters. The event that reaches the limit still goes in, whatever its size. */
export const CHUNK_CHARACTERS = 64 * 1024;
/**
 * If one commit brings a run at least this many characters, they become a chunk at once: writing them twice would cost
 * more than the saved row.
 */
export const BURST_CHARACTERS = 8 * 1024;

/** The newest events of a live run, which are in the journal and in no chunk yet. */
export interface RunTail {
  readonly firstNumber: number;
  /** The number that the next event must have. */
  readonly nextNumber: number;
  /** The tail's events as JSON, one per line. */
  readonly body: string;
}

/** Consecutive events of one run. */
export interface Chunk {
  readonly firstNumber: number;
  readonly lastNumber: number;
  /** The events as JSON, one per line. */
  readonly body: string;
}

export interface TailStep {
  readonly tail: RunTail;
  /** Chunks to insert. They include the earlier tail, if there are any. */
  readonly chunks: readonly Chunk[];
  /** The remaining events, for the journal. */
  readonly journaled: Chunk | null;
}

export function emptyTail(nextNumber: number): RunTail {
  return { firstNumber: nextNumber, nextNumber, body: "" };
}

/** Decides where the events that follow a tail are stored. `finish` leaves no tail. Pure function. */
export function extendTail(before: RunTail, events: readonly RecordedEvent[], finish: boolean): TailStep {
  const chunks: Chunk[] = [];
  let open: RunTail = before; // The part of the current chunk that is already in the journal,
  let taken = 0; // and the index of the first event after it.
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

/** JSON text has no line breaks, so they can separate events. */
function joinLines(above: string, below: string): string {
  return above === "" || below === "" ? above + below : `${above}\n${below}`;
}

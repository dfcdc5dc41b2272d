import { type EventBlock, joinBlock, lengthOfBlocks, linesOf } from "./event-block.ts";

/** A chunk is full with this many events, */
export const CHUNK_EVENTS = 256;
/** or this many characters. It includes the block that reaches the limit. */
export const CHUNK_CHARACTERS = 64 * 1024;
/**
 * If one commit brings a run at least this many characters, they become a chunk at once: writing them twice would cost
 * more than the saved row.
 */
export const BURST_CHARACTERS = 8 * 1024;

/** The newest events of a live run, which are in the journal and in no chunk yet. */
export interface RunTail {
  readonly firstNumber: number;
  /** The number of the next event. */
  readonly nextNumber: number;
  readonly blocks: readonly EventBlock[];
}

/** Consecutive events of one run. */
export interface Chunk {
  readonly firstNumber: number;
  readonly lastNumber: number;
  /** The lines of the events. */
  readonly body: string;
}

export interface TailStep {
  readonly tail: RunTail;
  /** Chunks to insert. If there are any, they include the earlier tail. */
  readonly chunks: readonly Chunk[];
  /** The remaining events, for the journal. */
  readonly journalChunk: Chunk | null;
}

export function emptyTail(nextNumber: number): RunTail {
  return { firstNumber: nextNumber, nextNumber, blocks: [] };
}

/** The events of a tail; null if it has none. */
export function chunkOfTail({ blocks, firstNumber, nextNumber }: RunTail): Chunk | null {
  return blocks.length === 0 ? null : chunkOf(blocks, firstNumber, nextNumber);
}

/** Decides where the events after a tail are stored. `finish` leaves no tail. Pure function. */
export function extendTail(before: RunTail, blocks: readonly EventBlock[], finish: boolean): TailStep {
  const chunks: Chunk[] = [];
  let tail = before;
  let fresh: EventBlock[] = []; // The blocks of the tail that are not in the journal yet.
  const endTail = (): void => {
    const chunk = chunkOfTail(tail);
    if (chunk !== null) chunks.push(chunk);
    tail = emptyTail(tail.nextNumber);
    fresh = [];
  };
  for (const block of blocks) {
    tail = { ...tail, nextNumber: block.lastNumber + 1, blocks: joinBlock(tail.blocks, block) };
    fresh.push(block);
    if (isFull(tail)) endTail();
  }
  if (finish || lengthOfBlocks(fresh) >= BURST_CHARACTERS) endTail();
  const first = fresh[0];
  const journalChunk = first === undefined ? null : chunkOf(fresh, first.firstNumber, tail.nextNumber);
  return { tail, chunks, journalChunk };
}

function isFull({ firstNumber, nextNumber, blocks }: RunTail): boolean {
  return nextNumber - firstNumber >= CHUNK_EVENTS || lengthOfBlocks(blocks) >= CHUNK_CHARACTERS;
}

function chunkOf(blocks: readonly EventBlock[], firstNumber: number, nextNumber: number): Chunk {
  return { firstNumber, lastNumber: nextNumber - 1, body: linesOf(blocks) };
}

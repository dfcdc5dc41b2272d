import { assert } from "../../base/assert.ts";
import type { Chunk } from "./run-tail.ts";

/** Events of one run as they lie in the journal. */
export interface JournalEntry extends Chunk {
  readonly responseId: string;
}

/** One row of the journal: for each entry a line that says what follows, then the JSON of its events, one a line. */
export function writeJournal(entries: readonly JournalEntry[]): string {
  return entries
    .map((entry) => `${entry.responseId} ${entry.firstNumber} ${entry.lastNumber}\n${entry.body}`)
    .join("\n");
}

export function readJournal(body: string): readonly JournalEntry[] {
  const entries: JournalEntry[] = [];
  const lines = body.split("\n");
  for (let line = 0; line < lines.length; ) {
    const [responseId, first, last] = lines[line]?.split(" ") ?? [];
    assert(responseId !== undefined && first !== undefined && last !== undefined, "the journal is as it was written");
    const [firstNumber, lastNumber] = [Number(first), Number(last)];
    const end = line + 2 + lastNumber - firstNumber;
    entries.push({ responseId, firstNumber, lastNumber, body: lines.slice(line + 1, end).join("\n") });
    line = end;
  }
  return entries;
}

const NONE: ReadonlySet<string> = new Set();

/** Which part of the journal is still needed: it begins where the oldest tail does. */
export class JournalSpan {
  /** Where each run's tail begins. A map keeps the order of insertion, so the oldest is first. */
  readonly #starts = new Map<string, number>();
  #cut = 0;
  #end = 0;

  /** Where the next row goes. */
  get end(): number {
    return this.#end;
  }

  /** What lies before this position is in chunks, or of no use any more, once these tails are too. */
  findStart(endedTails: ReadonlySet<string>): number {
    for (const [responseId, start] of this.#starts) {
      if (!endedTails.has(responseId)) return start;
    }
    return this.#end;
  }

  /** How much of the journal could be thrown away. */
  get excess(): number {
    return this.findStart(NONE) - this.#cut;
  }

  /** Everything before this position has been thrown away. */
  cutAt(position: number): void {
    this.#cut = position;
  }

  /** Call before `advance`, for each run of the row that is about to be added. */
  beginTail(responseId: string): void {
    if (!this.#starts.has(responseId)) this.#starts.set(responseId, this.#end);
  }

  endTail(responseId: string): void {
    this.#starts.delete(responseId);
  }

  advance(characters: number): void {
    this.#end += characters;
  }

  /** The runs whose tails keep more than this much of the journal from being thrown away. */
  findOverdue(charactersMax: number): ReadonlySet<string> {
    const overdue = new Set<string>();
    for (const [responseId, start] of this.#starts) {
      if (this.#end - start <= charactersMax) break;
      overdue.add(responseId);
    }
    return overdue;
  }
}

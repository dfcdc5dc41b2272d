import { assert } from "@antiphon/base/assert.ts";
import type { Chunk } from "./run-tail.ts";

/** Events of one run in the journal. */
export interface JournalEntry extends Chunk {
  readonly responseId: string;
}

/**
 * Writes one row of the journal: for each entry a header line, then the lines of its events. The header contains the
 * response, the first number, the last number and the number of lines.
 */
export function writeJournal(entries: readonly JournalEntry[]): string {
  return entries
    .map(({ responseId, firstNumber, lastNumber, body }) => {
      const lines = body.split("\n").length;
      return `${responseId} ${firstNumber} ${lastNumber} ${lines}\n${body}`;
    })
    .join("\n");
}

export function readJournal(body: string): readonly JournalEntry[] {
  const entries: JournalEntry[] = [];
  if (body.trim() === "") return entries; // It only marks a commit.
  const lines = body.split("\n");
  for (let line = 0; line < lines.length; ) {
    const [responseId, first, last, count] = lines[line]?.split(" ") ?? [];
    assert(responseId !== undefined && first !== undefined && last !== undefined, "the journal is as it was written");
    const firstNumber = Number(first);
    const lastNumber = Number(last);
    // Journals of earlier releases have no count: each line is one event.
    const end = line + 1 + (count === undefined ? lastNumber + 1 - firstNumber : Number(count));
    entries.push({ responseId, firstNumber, lastNumber, body: lines.slice(line + 1, end).join("\n") });
    line = end;
  }
  return entries;
}

const NONE: ReadonlySet<string> = new Set();

/** Tracks the part of the journal that is still needed: it starts at the oldest tail. */
export class JournalSpan {
  /** The start of each run's tail. A Map keeps the order of insertion, so the oldest comes first. */
  readonly #starts = new Map<string, number>();
  #cut = 0;
  #end = 0;

  /** The position of the next row. */
  get end(): number {
    return this.#end;
  }

  /** The position before which nothing is needed any more, once these tails are in chunks. */
  findStart(endedTails: ReadonlySet<string>): number {
    for (const [responseId, start] of this.#starts) {
      if (!endedTails.has(responseId)) return start;
    }
    return this.#end;
  }

  /** Whether the journal has at least this many characters before this position. */
  hasBefore(position: number, characters: number): boolean {
    return position - this.#cut >= characters;
  }

  /** How many characters could be removed from the journal. */
  get excess(): number {
    return this.findStart(NONE) - this.#cut;
  }

  /** Records that everything before this position was removed. */
  cutAt(position: number): void {
    this.#cut = position;
  }

  /** Call before `advance`, for each run in the row to be added. */
  beginTail(responseId: string): void {
    if (!this.#starts.has(responseId)) this.#starts.set(responseId, this.#end);
  }

  endTail(responseId: string): void {
    this.#starts.delete(responseId);
  }

  advance(characters: number): void {
    this.#end += characters;
  }

  /** The runs whose tails occupy more than this many characters in the journal. */
  findOverdue(charactersMax: number): ReadonlySet<string> {
    const overdue = new Set<string>();
    for (const [responseId, start] of this.#starts) {
      if (this.#end - start <= charactersMax) break;
      overdue.add(responseId);
    }
    return overdue;
  }
}

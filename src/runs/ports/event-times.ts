import { timeOfId } from "../../base/ids.ts";

/** How many different times are kept of a run. If there are more, they are kept less exactly. */
const MARKS_MAX = 8_192;

/** When something happened to a run, in milliseconds since it was asked for. */
export interface RunTimes {
  /** The times of the events, as `readEventTimes` reads them. */
  readonly events: string;
  /** When a background run left its queue; null if it was in none. */
  readonly queuedMs: number | null;
  /** When the first piece of an answer arrived; null if none did. */
  readonly firstTextMs: number | null;
  readonly durationMs: number;
}

/** Notes when the events of a run are made. Consecutive events of one millisecond share a mark. */
export class EventTimes {
  readonly #startMs: number;
  readonly #now: () => number;
  /** Pairs of a number and the milliseconds at which it and the events after it were made. */
  #marks: number[] = [];
  #resolutionMs = 1;
  #queuedMs: number | null = null;
  #firstTextMs: number | null = null;

  /** `startMs`: when the run was asked for, in Unix milliseconds, as `now`. */
  constructor(startMs: number, now: () => number = Date.now) {
    this.#startMs = startMs;
    this.#now = now;
  }

  /** The times of a run with this id, which tells when it was asked for; from now on if it does not. */
  static ofRun(responseId: string): EventTimes {
    return new EventTimes(timeOfId(responseId) ?? Date.now());
  }

  /** The run has left its queue. */
  noteBegin(): void {
    this.#queuedMs = this.#elapsed();
  }

  /** Events from this number on are made now. */
  note(firstNumber: number, events: readonly object[]): void {
    const atMs = this.#elapsed();
    if (this.#firstTextMs === null && events.some(isDelta)) this.#firstTextMs = atMs;
    const marks = this.#marks;
    // Numbers that nobody has seen are given again.
    while (marks.length > 0 && (marks.at(-2) ?? 0) >= firstNumber) marks.length -= 2;
    if (marks.length > 0 && atMs - (marks.at(-1) ?? 0) < this.#resolutionMs) return;
    marks.push(firstNumber, atMs);
    if (marks.length > 2 * MARKS_MAX) this.#coarsen();
  }

  /** The times so far. */
  soFar(): RunTimes {
    return {
      events: writeMarks(this.#marks),
      queuedMs: this.#queuedMs,
      firstTextMs: this.#firstTextMs,
      durationMs: this.#elapsed(),
    };
  }

  #coarsen(): void {
    while (this.#marks.length > MARKS_MAX) {
      this.#resolutionMs *= 2;
      const kept: number[] = [];
      for (let index = 0; index < this.#marks.length; index += 2) {
        const [number = 0, atMs = 0] = this.#marks.slice(index, index + 2);
        if (kept.length === 0 || atMs - (kept.at(-1) ?? 0) >= this.#resolutionMs) kept.push(number, atMs);
      }
      this.#marks = kept;
    }
  }

  /** Never negative and never less than before, though clocks may be set back. */
  #elapsed(): number {
    return Math.max(0, this.#marks.at(-1) ?? 0, Math.round(this.#now() - this.#startMs));
  }
}

/** The milliseconds of each event, by number; null where none are known. */
export function readEventTimes(text: string): (number: number) => number | null {
  const marks: (readonly [number: number, atMs: number])[] = [];
  let number = 0;
  let atMs = 0;
  for (const mark of text.split(" ")) {
    const [numbers, ms] = mark.split(":");
    if (numbers === undefined || ms === undefined) continue;
    number += Number(numbers);
    atMs += Number(ms);
    marks.push([number, atMs]);
  }
  return (wanted) => marks[lastBefore(marks, wanted)]?.[1] ?? null;
}

/** The place of the last mark that is not after this number; −1 if there is none. */
function lastBefore(marks: readonly (readonly [number: number, atMs: number])[], wanted: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.[0] ?? 0) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Each mark as its distance from the one before, `numbers:milliseconds`. */
function writeMarks(marks: readonly number[]): string {
  const written: string[] = [];
  for (let index = 0; index < marks.length; index += 2) {
    const number = marks[index] ?? 0;
    const atMs = marks[index + 1] ?? 0;
    written.push(`${number - (marks[index - 2] ?? 0)}:${atMs - (marks[index - 1] ?? 0)}`);
  }
  return written.join(" ");
}

function isDelta(event: object): boolean {
  return "delta" in event;
}

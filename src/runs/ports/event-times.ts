import { timeOfId } from "@antiphon/base/ids.ts";

/** The maximum number of recorded times of a run. Beyond it, times are recorded less precisely. */
const MARKS_MAX = 8_192;

/** Times of a run, in milliseconds since its request. */
export interface RunTimes {
  /** The times of the events, in the format of `readEventTimes`. */
  readonly events: string;
  /** When a background run left its queue; null if it was not queued. */
  readonly queuedMs: number | null;
  /** When the first piece of an answer arrived; null if there was none. */
  readonly firstTextMs: number | null;
  readonly durationMs: number;
}

/** Records when the events of a run are created. Consecutive events of one millisecond share a mark. */
export class EventTimes {
  readonly #startMs: number;
  readonly #now: () => number;
  /** Pairs of an event number and the milliseconds of this and the following events. */
  #marks: number[] = [];
  #resolutionMs = 1;
  #queuedMs: number | null = null;
  #firstTextMs: number | null = null;

  /** `startMs`: the time of the request, in Unix milliseconds, like `now`. */
  constructor(startMs: number, now: () => number = Date.now) {
    this.#startMs = startMs;
    this.#now = now;
  }

  /** The times of a run with this id. The id contains the time of the request; otherwise the times start now. */
  static ofRun(responseId: string): EventTimes {
    return new EventTimes(timeOfId(responseId) ?? Date.now());
  }

  /** The run has left its queue. */
  noteBegin(): void {
    this.#queuedMs = this.#measureElapsed();
  }

  /** Records that events from this number on are created now. */
  note(firstNumber: number, events: readonly object[]): void {
    const atMs = this.#measureElapsed();
    if (this.#firstTextMs === null && events.some(isDelta)) this.#firstTextMs = atMs;
    const marks = this.#marks;
    // Numbers of unseen events are reused.
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
      durationMs: this.#measureElapsed(),
    };
  }

  #coarsen(): void {
    while (this.#marks.length > MARKS_MAX) {
      this.#resolutionMs *= 2;
      const marks: number[] = [];
      for (let index = 0; index < this.#marks.length; index += 2) {
        const [number = 0, atMs = 0] = this.#marks.slice(index, index + 2);
        if (marks.length === 0 || atMs - (marks.at(-1) ?? 0) >= this.#resolutionMs) marks.push(number, atMs);
      }
      this.#marks = marks;
    }
  }

  /** Never negative and never decreasing, even if the clock is set back. */
  #measureElapsed(): number {
    return Math.max(0, this.#marks.at(-1) ?? 0, Math.round(this.#now() - this.#startMs));
  }
}

/** Returns the milliseconds of each event by number; null if unknown. */
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
  return (eventNumber) => marks[lastBefore(marks, eventNumber)]?.[1] ?? null;
}

/** The index of the last mark at or before this number; −1 if there is none. */
function lastBefore(marks: readonly (readonly [number: number, atMs: number])[], number: number): number {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle]?.[0] ?? 0) <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Writes each mark as its distance from the previous one: `numbers:milliseconds`. */
function writeMarks(marks: readonly number[]): string {
  const texts: string[] = [];
  for (let index = 0; index < marks.length; index += 2) {
    const number = marks[index] ?? 0;
    const atMs = marks[index + 1] ?? 0;
    texts.push(`${number - (marks[index - 2] ?? 0)}:${atMs - (marks[index - 1] ?? 0)}`);
  }
  return texts.join(" ");
}

function isDelta(event: object): boolean {
  return "delta" in event;
}

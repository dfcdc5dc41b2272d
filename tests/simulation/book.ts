/** A promise that was broken. */
export class Violation extends Error {
  override readonly name = "Violation";
  /** Which promise: one of `PROMISES`. */
  readonly promise: PromiseName;

  constructor(promise: PromiseName, what: string) {
    super(`${promise}: ${what}`);
    this.promise = promise;
  }
}

/** What the simulation checks. */
export const PROMISES = {
  "once and in order": "Each reader gets each event once, in order and without gaps, through whichever nodes it reads.",
  "nothing visible is lost": "What any reader saw is in the replay, byte for byte, and so is a final body.",
  "effects at most once": "A call with effects acts at most once, over all nodes and lives.",
  "effects are told truly": "A call that is shown as completed has acted.",
  "each run ends once": "Each stored run ends, with exactly one final event, which is its last.",
  "end equals events": "The final snapshot is what the events say, and a completed answer is whole.",
  "one response for a key": "All requests with one idempotency key get the same response, and only one is stored.",
  "usage counted once": "The usage of a response has each turn of its model once, and is noted at most once.",
  "clients get an end": "Once all faults have ended, each client that goes on trying gets its answer.",
  "no node has a bug": "No node fails an assertion, leaves a promise rejected, or logs an unexpected error.",
} as const;
export type PromiseName = keyof typeof PROMISES;

/** What clients saw of all responses. */
export class Book {
  readonly #frames = new Map<string, Map<number, string>>();
  readonly #ends = new Map<string, number>();
  readonly #bodies = new Map<string, string>();
  /** The first violation. */
  violation: Violation | null = null;

  report(promise: PromiseName, what: string): void {
    this.violation ??= new Violation(promise, what);
  }

  /** Notes an event that a reader saw. */
  noteFrame(responseId: string, number: number, frame: string): void {
    const frames = this.#frames.get(responseId) ?? new Map<number, string>();
    this.#frames.set(responseId, frames);
    const earlier = frames.get(number);
    frames.set(number, frame);
    if (earlier !== undefined && earlier !== frame)
      this.report(
        "nothing visible is lost",
        `two readers saw different events ${number} of ${responseId}:\n${earlier}${frame}`,
      );
  }

  /** Notes that this event is the last one. */
  noteEnd(responseId: string, number: number): void {
    this.#ends.set(responseId, number);
  }

  /** Whether this event is the last one, as far as readers saw. */
  hasEnd(responseId: string, number: number): boolean {
    return this.#ends.get(responseId) === number;
  }

  /** Notes a final snapshot that a client got, as JSON. */
  noteBody(responseId: string, body: string): void {
    const earlier = this.#bodies.get(responseId);
    this.#bodies.set(responseId, body);
    if (earlier !== undefined && earlier !== body)
      this.report("nothing visible is lost", `two clients got different ends of ${responseId}:\n${earlier}\n${body}`);
  }

  framesOf(responseId: string): ReadonlyMap<number, string> {
    return this.#frames.get(responseId) ?? new Map();
  }

  bodyOf(responseId: string): string | null {
    return this.#bodies.get(responseId) ?? null;
  }

  get seenIds(): ReadonlySet<string> {
    return new Set([...this.#frames.keys(), ...this.#bodies.keys()]);
  }
}

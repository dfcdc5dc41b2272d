import type { CallResult } from "./hosted-run.ts";

/** A call that was made so often in a row, word for word, is not run again. */
const EQUAL_CALLS_MAX = 3;

interface Called {
  readonly name: string;
  readonly server: string | null;
  readonly arguments: string;
}

/** Counts calls that are equal to the one before. */
export class EqualCalls {
  #last: { readonly key: string; count: number; readonly first: Promise<CallResult> } | null = null;

  /** Starts the call. If there were too many equal ones in a row, the first of them takes its place. */
  take(
    call: Called,
    start: () => Promise<CallResult>,
  ): { readonly isNew: boolean; readonly result: Promise<CallResult> } {
    const key = JSON.stringify([call.name, call.server, call.arguments]);
    const last = this.#last;
    if (last?.key !== key) {
      const result = start();
      this.#last = { key, count: 1, first: result };
      return { isNew: true, result };
    }
    last.count += 1;
    return last.count <= EQUAL_CALLS_MAX ? { isNew: true, result: start() } : { isNew: false, result: last.first };
  }
}

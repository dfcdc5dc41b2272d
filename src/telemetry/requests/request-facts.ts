import type { LineAddition } from "@antiphon/http-kit/request-observer.ts";

const NOTHING: LineAddition = { isWarning: false, fields: {} };

/** Collects the facts of runs until their request ends, so that each request has one log line. */
export class RequestFacts {
  readonly #open = new Map<string, LineAddition>();

  begin(requestId: string): void {
    this.#open.set(requestId, NOTHING);
  }

  /** Returns false if the request is over, or has no line of its own. */
  add(requestId: string | null, { isWarning, fields }: LineAddition): boolean {
    const before = requestId === null ? undefined : this.#open.get(requestId);
    if (before === undefined || requestId === null) return false;
    this.#open.set(requestId, {
      isWarning: before.isWarning || isWarning,
      fields: { ...before.fields, ...fields },
    });
    return true;
  }

  end(requestId: string): LineAddition {
    const facts = this.#open.get(requestId) ?? NOTHING;
    this.#open.delete(requestId);
    return facts;
  }
}

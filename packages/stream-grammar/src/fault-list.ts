import type { NoteName, Report, RuleName } from "./rules.ts";

/** A broken rule and its event. */
export interface StreamFault {
  readonly rule: RuleName;
  /** The index of the event in its stream, from 0. Equals the sequence number if those are correct. */
  readonly event: number;
  /** Null if there is no event or it has no type. */
  readonly type: string | null;
  readonly says: string;
}

/** A deviation that breaks no rule, and its event. */
export interface StreamNote {
  readonly note: NoteName;
  readonly event: number;
  readonly type: string | null;
  readonly says: string;
}

/** The result for one stream. */
export interface StreamReport {
  readonly responseId: string | null;
  readonly events: number;
  /** The first faults, at most 200. */
  readonly faults: readonly StreamFault[];
  readonly faultsLeftOut: number;
  readonly notes: readonly StreamNote[];
}

const FAULTS_MAX = 200;

/** The faults of one stream, each at the event that is being read. */
export class FaultList {
  readonly #faults: StreamFault[] = [];
  #leftOut = 0;
  #events = 0;
  /** The type of the event that is being read; null between events, and for one without a type. */
  type: string | null = null;

  /** Reports a broken rule at the current event, or at the next one between events. */
  readonly report: Report = (rule, says) => {
    if (this.#faults.length >= FAULTS_MAX) this.#leftOut++;
    else this.#faults.push({ rule, event: this.#events, type: this.type, says });
  };

  /** How many events were read to their end. */
  get events(): number {
    return this.#events;
  }

  endEvent(): void {
    this.type = null;
    this.#events++;
  }

  streamReport(responseId: string | null): StreamReport {
    return {
      responseId,
      events: this.#events,
      faults: this.#faults,
      faultsLeftOut: this.#leftOut,
      notes: [],
    };
  }
}

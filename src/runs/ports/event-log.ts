import type {
  OutputItem,
  Response,
  ResponseNote,
  RunKind,
  StoredItem,
} from "@antiphon/contracts/responses-api/types.ts";
import type { FaceOrigin } from "@antiphon/domain/faces.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { RecordedEvent } from "../recorded-event.ts";
import type { RunTimes } from "./event-times.ts";
import type { WaitingEvent } from "./packed-deltas.ts";

/**
 * The version of stored tasks. Raise it with each change that an older program cannot read. It is the first member of a
 * task's JSON, where workers read it before they claim a run.
 */
export const TASK_VERSION = 3;

/** The data stored when a run begins. */
export interface OpenedRun {
  readonly owner: Owner;
  /** The snapshot of `response.created`. */
  readonly response: Response;
  /** The items of this request in the order sent, normalized and with ids. */
  readonly inputItems: readonly StoredItem[];
  /** JSON text for restarting a background run after a crash. Null for a foreground run. */
  readonly task?: string | null;
  /** Whether the request had `stream`; false if absent. The replies of cancel and replay depend on it. */
  readonly streamed?: boolean;
  /**
   * The worker that claimed the key of the request; null or absent without one. Under another number nothing is stored,
   * because the key may belong to another request by then.
   */
  readonly claimedBy?: number | null;
  /** The origin of the request, for lists of responses. */
  readonly origin?: RunOrigin;
  /** The inputs of another response that it takes; absent or null if none. They are marked with the first write. */
  readonly steers?: TakenSteers | null;
}

/** Inputs that a new response takes. They are marked in the transaction that stores the response. */
export interface TakenSteers {
  /** The response to which they were added. */
  readonly responseId: string;
  readonly ids: readonly string[];
  /** As in `ResponseSteer`. */
  readonly turn: number;
}

/** The sender and the circumstances of a request. */
export interface RunOrigin {
  readonly kind: RunKind;
  /** The API key. */
  readonly keyId: string;
  /** Notes on deviations from the request. */
  readonly notes: readonly ResponseNote[];
  /** The face of the API by which it came; null for the Responses API. */
  readonly face?: FaceOrigin | null;
}

/** The data stored when a run ends, in the same transaction as its last events. */
export interface ClosedRun {
  readonly response: Response;
  readonly outputItems: readonly OutputItem[];
  /** Notes that are only known at the end; none if absent. */
  readonly notes?: readonly ResponseNote[];
  /** Added by the recorder. */
  readonly times?: RunTimes;
}

/**
 * The events of stored runs, and notes on them. Promises resolve once the data is durable. Appends of all runs share
 * commits. Writes reject with `RunLost` if this worker no longer holds the run.
 */
export interface EventLog {
  /** The run's first events may be appended before this resolves. */
  open(run: OpenedRun, events: readonly RecordedEvent[]): Promise<void>;
  append(responseId: string, events: readonly WaitingEvent[]): Promise<void>;
  /**
   * Makes the events durable before it returns. Returns false if that is impossible now: use `append`. Not before
   * `open` has resolved, nor while another write of the run is under way.
   */
  appendNow(responseId: string, events: readonly WaitingEvent[]): boolean;
  /** Appends events and replaces the stored snapshot; the run continues. */
  advance(responseId: string, events: readonly RecordedEvent[], response: Response): Promise<void>;
  close(responseId: string, events: readonly WaitingEvent[], end: ClosedRun): Promise<void>;
  /** Stores a run that has ended, with all its events, as one change. */
  storeWhole(run: OpenedRun, events: readonly RecordedEvent[], end: ClosedRun): Promise<void>;
  /** Adds a note to a stored run, unless it has too many. */
  addNote(responseId: string, note: ResponseNote): Promise<void>;
  /**
   * The stored events with a number above `after`, oldest first, in batches; all if `after` is −1. Ends at the last
   * stored event.
   */
  read(responseId: string, after: number): AsyncIterable<readonly RecordedEvent[]>;
}

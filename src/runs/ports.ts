import type {
  Annotation,
  LogProb,
  OutputItem,
  Response,
  ResponseNote,
  RunKind,
  StoredItem,
} from "../../generated/responses-api/types.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { HostedItemEvent } from "./hosted.ts";
import type { WaitingEvent } from "./reading/packed-deltas.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import type { RunTimes } from "./recording/event-times.ts";
import type { ModelRequest } from "./request/model-request.ts";

export type {
  HostedCall,
  HostedFunction,
  HostedFunctionChoice,
  HostedItem,
  HostedItemEvent,
  HostedOutput,
  ToolStep,
} from "./hosted.ts";
export type { JournalPage, Neighbours, RunPlace, RunPlaces } from "./reading/neighbours.ts";
export { unpackDeltas, type WaitingEvent } from "./reading/packed-deltas.ts";
export { DeltaTemplate, endsRun, RecordedDelta, type RecordedEvent, RecordedWhole } from "./recorded-event.ts";
export { type RunTimes, readEventTimes } from "./recording/event-times.ts";
export { type ContextItem, type ModelRequest, type OfferedTool, PLAIN_REQUEST } from "./request/model-request.ts";

/**
 * The organization and project that stored data belongs to. Every query names it; another owner's id counts as unknown.
 */
export interface Owner {
  readonly organization: string;
  readonly project: string;
}

/** Token counts of one turn. `inputTokens` includes cached tokens, `outputTokens` includes reasoning tokens. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** True if the model server has not counted a turn. */
  readonly isEstimate?: true;
}

/**
 * One piece of a model's answer, independent of its vendor. Strictly sequential: an adapter untangles interleaved
 * calls, so that a block ends before the next begins. Text after a call opens a new message; `call_delta` belongs to
 * the latest `call_started`.
 */
export type ModelEvent =
  /** `answerId` is the model server's id of this answer, if it sends one. */
  | { readonly type: "model_resolved"; readonly model: string; readonly answerId?: string }
  /** Begins a new message, even directly after another one. Without this event the first text begins the message. */
  | { readonly type: "message_started"; readonly phase?: "commentary" | "final_answer" }
  /** Ends the open message or reasoning, if any. Without this event it ends when another item begins. */
  | { readonly type: "message_finished" }
  | {
      readonly type: "text_delta";
      readonly text: string;
      readonly logprobs?: readonly LogProb[];
      /** True of a citation that this server wrote: voices do not read it out. */
      readonly isCitation?: boolean;
    }
  | { readonly type: "annotation"; readonly annotation: Annotation }
  | { readonly type: "refusal_delta"; readonly text: string }
  /** Raw reasoning, as open-weight models send it. */
  | { readonly type: "reasoning_delta"; readonly text: string }
  | { readonly type: "reasoning_summary_delta"; readonly text: string }
  /** The next summary delta begins a new summary part. */
  | { readonly type: "reasoning_summary_break" }
  /** If `callId` is null, the run makes one. The deltas of a `custom` call are its free-form input, not JSON. */
  | {
      readonly type: "call_started";
      readonly kind: "function" | "custom" | "hosted";
      readonly callId: string | null;
      readonly name: string;
      /** Of a hosted function: its server. */
      readonly namespace?: string;
    }
  | { readonly type: "call_delta"; readonly text: string }
  /** `isCut` is true if the answer broke off within the call; the call is then incomplete. */
  | { readonly type: "call_finished"; readonly isCut?: boolean }
  /** A tool search that the client runs: one whole item. If `callId` is null, the run makes one. */
  | {
      readonly type: "tool_search";
      readonly callId: string | null;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly isCut?: boolean;
    }
  | HostedItemEvent
  /** What hosted tools used so far. */
  | { readonly type: "tool_usage"; readonly usage: Response["tool_usage"] }
  /**
   * The turn broke off, and the model is asked again. Ends what is open: a message or a call as incomplete, reasoning
   * as it is.
   */
  | { readonly type: "turn_cut" }
  /** A summary of the conversation so far, sealed for its owner: one whole item. */
  | { readonly type: "compaction"; readonly encryptedContent: string }
  /** A piece of the spoken answer, in base64. It belongs to no item. Only this server's own voices make it. */
  | { readonly type: "audio_delta"; readonly audio: string }
  /** The words that the next `audio_delta` begins to speak. */
  | { readonly type: "audio_transcript_delta"; readonly text: string }
  /** The sound is complete. */
  | { readonly type: "audio_done" }
  /** `contextTokens`: if the answer took several turns, the tokens of the last one, its answer included. */
  | { readonly type: "usage"; readonly usage: ModelUsage; readonly contextTokens?: number }
  | { readonly type: "finished"; readonly reason: "stop" | "length" | "content_filter" };

/**
 * Why a model gave no answer. Before a turn is accepted it becomes the HTTP reply, afterwards the events `error` and
 * `response.failed`.
 */
export class ModelError extends Error {
  override readonly name = "ModelError";
  /** The HTTP status to reply with, if nothing was sent yet. */
  readonly status: number;
  /** The error object's `type`, such as `server_error`, `rate_limit_error`, `invalid_request_error`. */
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  /** The part of the message that quotes another server. It is shown to the caller but not logged. */
  readonly quoted: string | null;
  /** Whether the same turn may succeed a moment later. `once`: the fault is likely to come again. */
  readonly retry: "often" | "once" | "never";

  constructor(
    message: string,
    fields: {
      status: number;
      type: string;
      code?: string | null;
      param?: string | null;
      retryAfterSeconds?: number | null;
      quoted?: string;
      retry?: ModelError["retry"];
      cause?: unknown;
    },
  ) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.status = fields.status;
    this.type = fields.type;
    this.code = fields.code ?? null;
    this.param = fields.param ?? null;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
    this.quoted = fields.quoted ?? null;
    this.retry = fields.retry ?? "never";
  }
}

/** The code of a `ModelError` for a model server that is reachable but does not list its models. */
export const NO_MODEL_LIST = "no_model_list";

export interface ModelDescription {
  readonly id: string;
  /** In Unix seconds; 0 if the model server does not say. */
  readonly created: number;
  readonly ownedBy: string;
  /** A text for people, such as one that explains the built-in engine. */
  readonly description?: string;
}

/** The number of tokens in a turn's input. */
export interface TokenCount {
  readonly tokens: number;
  /** True if the model's own tokenizer and chat template counted; false if it is an estimate. */
  readonly exact: boolean;
}

/** The kinds of input that a model server takes beside text. Other kinds are converted or refused. */
export interface ModelAbilities {
  readonly images: boolean;
  /** Whether it fetches pictures by URL itself. If not, they are sent as data URLs. */
  readonly imageUrls: boolean;
  /** Whether it reads files that are not text, such as PDFs. */
  readonly files: boolean;
  /** The sound formats it takes. */
  readonly audioFormats: readonly ("mp3" | "wav")[];
}

/** What a model does by itself. Responses echo it; it is not sent to the model. */
export interface ReasoningDefaults {
  readonly context: "current_turn" | "all_turns";
  readonly effort: "none" | "medium";
  readonly mode: "standard";
}

/** Asks a model. Each vendor's API has its own implementation. */
export interface ModelEngine {
  /** Shown in logs and in the start banner. */
  readonly name: string;
  readonly abilities: ModelAbilities;
  /**
   * Resolves once the model server has accepted the turn; rejects with `ModelError` if it refused (unknown model, no
   * quota, input too long). A batch holds the events that arrived together and is never empty. The iterable throws
   * `ModelError` if the turn fails later. When `signal` aborts it ends without throwing. Leaving the iteration aborts
   * the call.
   */
  sample(request: ModelRequest, signal: AbortSignal, begun?: string): Promise<AsyncIterable<readonly ModelEvent[]>>;
  /**
   * Whether `sample` can be given the beginning of the answer, `begun`, and then gives what follows it. May ask the
   * model server, once for each model. Never rejects.
   */
  continuesAnswers(model: string, signal: AbortSignal): Promise<boolean>;
  listModels(signal: AbortSignal): Promise<readonly ModelDescription[]>;
  /**
   * The input tokens that `sample` would report for this turn. May ask the model server. Rejects with the `ModelError`
   * of every check that `sample` makes before it asks the model server.
   */
  countTokens(request: ModelRequest, signal: AbortSignal): Promise<TokenCount>;
  /**
   * The input tokens of a turn whose server has counted none. As `countTokens`, but the model server is asked only if
   * it is known to answer.
   */
  estimateTokens(request: ModelRequest, signal: AbortSignal): Promise<number>;
  /** How the model reasons where a request does not say it; null if that is unknown, or if it does not reason. */
  reasoningDefaults(model: string): ReasoningDefaults | null;
  /** Where the engine does not send exactly what a turn asks. What the field ledger says is not among it. */
  notesOn(request: ModelRequest): readonly ResponseNote[];
  /**
   * The maximum of input and output tokens together; null if neither the operator nor the model server gives it. The
   * result is cached. Never rejects.
   */
  contextWindow(model: string, signal: AbortSignal): Promise<number | null>;
}

/**
 * The version of tasks as they are stored. Raise it with each change that an older program could not read. It is the
 * first member of a task's JSON, where workers look for it before they claim a run.
 */
export const TASK_VERSION = 3;

/** The data stored when a run begins. */
export interface OpenedRun {
  readonly owner: Owner;
  /** The snapshot of `response.created`. */
  readonly response: Response;
  /** The items of this request in the order sent, normalised and with ids. */
  readonly inputItems: readonly StoredItem[];
  /** JSON text from which a background run can be restarted after a crash. Null for a foreground run. */
  readonly task?: string | null;
  /** Whether the request asked for a stream; false if absent. The replies of cancel and replay depend on it. */
  readonly streamed?: boolean;
  /** Who asked for the response and how, for lists of responses. */
  readonly origin?: RunOrigin;
}

/** Who asked for a response, and how. */
export interface RunOrigin {
  readonly kind: RunKind;
  /** The API key. */
  readonly keyId: string;
  /** Where the response is not made exactly as asked. */
  readonly notes: readonly ResponseNote[];
}

/** The data stored when a run ends, in the same transaction as its last events. */
export interface ClosedRun {
  readonly response: Response;
  readonly outputItems: readonly OutputItem[];
  /** What only its end shows of how the response was made; none if absent. */
  readonly notes?: readonly ResponseNote[];
  /** The recorder adds them. */
  readonly times?: RunTimes;
}

/** Another process kept the database locked beyond the maximum wait. Nothing was changed. */
export class StoreBusy extends Error {
  override readonly name: string = "StoreBusy";
}

/** The database is another program, which did not answer in time. It may have carried out what it was asked. */
export class StoreAway extends StoreBusy {
  override readonly name = "StoreAway";
}

/** Another worker has claimed the run, or it was deleted. This worker can store no more of it and must show no more. */
export class RunLost extends Error {
  override readonly name: string = "RunLost";
}

/** The run waits, and any worker may go on with it once the time has come. */
export class RunSuspended extends RunLost {
  override readonly name = "RunSuspended";
  /** How long nobody goes on with it, in milliseconds. */
  readonly pauseMs: number;
  /** The attempts at its model so far. */
  readonly attempts: TurnAttempts;

  constructor(pauseMs: number, attempts: TurnAttempts) {
    super("the run waits until its model can be asked again");
    this.pauseMs = pauseMs;
    this.attempts = attempts;
  }
}

/** How often a turn of a model was tried. It is stored with a run that waits, so it is plain JSON. */
export interface TurnAttempts {
  /** The turn, from 1. */
  readonly turn: number;
  /** How often it failed. */
  readonly failures: number;
  /** When it failed first, in Unix milliseconds. */
  readonly since: number;
}

/**
 * The store ended while it worked, or was away for too long. It is unknown whether the events are stored, so the run is
 * left to the worker that claims it.
 */
export class StoreStopped extends RunLost {
  override readonly name = "StoreStopped";
}

/**
 * The events of stored runs, and notes on them. They are durable when the promise resolves. Appends of all runs share
 * commits. Writes reject with `RunLost` if this worker no longer holds the run.
 */
export interface EventLog {
  /** The run's first events may be appended before this has resolved. */
  open(run: OpenedRun, events: readonly RecordedEvent[]): Promise<void>;
  append(responseId: string, events: readonly WaitingEvent[]): Promise<void>;
  /** Appends events and replaces the stored snapshot; the run continues. */
  advance(responseId: string, events: readonly RecordedEvent[], response: Response): Promise<void>;
  close(responseId: string, events: readonly WaitingEvent[], end: ClosedRun): Promise<void>;
  /** Stores a run that has ended, with all its events, as one change. */
  storeWhole(run: OpenedRun, events: readonly RecordedEvent[], end: ClosedRun): Promise<void>;
  /** Adds a note to those of a stored run, unless it has too many. */
  addNote(responseId: string, note: ResponseNote): Promise<void>;
  /**
   * The stored events with a number above `after`, oldest first, in batches; all of them if `after` is −1. Ends at the
   * last stored event.
   */
  read(responseId: string, after: number): AsyncIterable<readonly RecordedEvent[]>;
}

/** A run that no living worker makes, as it stands in a list. */
export interface UnmadeRun {
  readonly responseId: string;
  /** `queue`: it was released, or waits to be begun; `dead`: its worker is dead; `own`: this worker holds it. */
  readonly from: "queue" | "dead" | "own";
  /** Whether a model will be asked for it, so that it needs a place. The others only have to be ended. */
  readonly needsPlace: boolean;
  /** The version of its task; null if it has none that says one. */
  readonly taskVersion: number | null;
}

/** The runs that no living worker makes. */
export interface UnmadeRuns {
  /** Those that only have to be ended, and then the others, in turn for each owner. */
  readonly runs: readonly UnmadeRun[];
  /** How many workers live, this one included. */
  readonly workers: number;
  /** The latest version of tasks that one of them can read. */
  readonly taskVersion: number;
}

/** A run that this worker has claimed. */
export interface AbandonedRun extends Pick<UnmadeRun, "from"> {
  readonly owner: Owner;
  readonly response: Response;
  /** Null if the run cannot be restarted. */
  readonly task: string | null;
  /** How often the run was restarted since its latest step, and was not released cleanly. */
  readonly restarts: number;
  /** How many steps had ended at the latest restart. */
  readonly restartSteps: number;
  /** The failed attempts at its turn, if it was suspended. */
  readonly attempts: TurnAttempts | null;
}

/** How a run is given up. */
export interface Release {
  /** Whether it was being made here, and not only waiting. That was no restart that failed. */
  readonly hadBegun: boolean;
  /** How long nobody may go on with it, in milliseconds; null if anybody may at once. */
  readonly pauseMs?: number | null;
  readonly attempts?: TurnAttempts | null;
}

/**
 * Records which worker holds which run. A worker is one server process; it holds its runs as long as it renews its
 * lease. Its number is unique and stands in every row it may change, so writes after it lost a run have no effect.
 */
export interface RunLedger {
  /**
   * Lists the runs whose worker is dead or that no worker holds, and runs of this worker for which `isHere` is false.
   * `isHere` must return true from before a run is stored until after its end is stored. Leaves out suspended runs
   * whose time has not come.
   */
  listUnmade(isHere: (responseId: string) => boolean): Promise<UnmadeRuns>;
  /** Claims those of these runs that nobody makes, still. */
  claim(runs: readonly UnmadeRun[]): Promise<readonly AbandonedRun[]>;
  /** How many background runs wait for a worker that has room for them. */
  countWaiting(): Promise<number>;
  /** The ids of the runs that this worker holds. */
  listHeld(): Promise<readonly string[]>;
  /** Adds one to the restarts of a run, which begin at 1 again if more steps have ended than at the latest one. */
  countRestart(responseId: string, steps: number): Promise<void>;
  /** Gives up a run, so that any worker can claim it. */
  release(responseId: string, release: Release): Promise<void>;
  /** Renews the lease for another term. Returns false if it had expired and the worker has lost all its runs. */
  renewLease(): Promise<boolean>;
  /** Asks the worker that holds the run to cancel it. */
  requestStop(responseId: string): Promise<void>;
  /** The ids of this worker's runs that somebody asked to cancel. */
  listStopRequests(): Promise<readonly string[]>;
}

/** Something that happened to a run while it was made, besides its answer. */
export type RunHappening =
  /** Its worker died, was stopped, or could not reach the store. */
  | { readonly type: "interrupted"; readonly by: "crash" | "handover" | "store" }
  /** Its model failed, and is asked again after a pause. `error`: what it said, for people. */
  | { readonly type: "waited"; readonly pauseMs: number; readonly error: string }
  /** `how`: an item goes on after the text that was shown, or ended as incomplete, and another one says it anew. */
  | { readonly type: "continued"; readonly how: "same_item" | "new_item" }
  /** So many functions of its tools are found by a search, because the window of its model is small. */
  | { readonly type: "held_back"; readonly functions: number };

/** A run as telemetry sees it. */
export interface WatchedRun {
  readonly responseId: string;
  /** The id of the request that began it; null if another worker took that request. */
  readonly requestId: string | null;
  /** The model that the request named. */
  readonly model: string;
  readonly isBackground: boolean;
  readonly trace: TraceContext | null;
}

/**
 * Follows one run for metrics, traces and logs. No method may throw. `said` is called for every batch and must be
 * cheap.
 */
export interface RunWatch {
  /** The trace of all calls that the run makes. */
  readonly trace: TraceContext | null;
  /** The model is asked now; a queued run has left the queue. */
  began(): void;
  /** This many wire events were made from one batch of the model. */
  said(events: number): void;
  /** The model failed, or another fault ended the run. */
  failed(fault: unknown): void;
  /** The run has ended here. `response` is its final snapshot. */
  ended(response: Response): void;
  /** The request was refused before anything was shown, so there is no run. */
  refused(reason: unknown): void;
  /** This worker no longer makes the run: another one took it, or it was deleted. */
  left(): void;
  happened(happening: RunHappening): void;
}

/** Called once for every run. */
export interface RunObserver {
  watch(run: WatchedRun): RunWatch;
}

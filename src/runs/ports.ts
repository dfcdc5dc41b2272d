import type {
  Annotation,
  InputItem,
  LogProb,
  OutputItem,
  Response,
  ResponseStreamEvent,
  StoredItem,
  TextConfig,
  Tool,
  ToolChoice,
} from "../../generated/responses-api/types.ts";
import type { TraceContext } from "../base/trace-context.ts";

/** Who a stored thing belongs to. Every query carries it; a foreign id is an unknown id. */
export interface Owner {
  readonly organization: string;
  readonly project: string;
}

/**
 * One turn asked of a model. Items are in context order and resolved: no `item_reference`, no extension parts, sealed
 * reasoning opened.
 */
export interface ModelRequest {
  readonly model: string;
  readonly instructions: string | null;
  readonly items: readonly InputItem[];
  /** Those of the request, and those that joined in with its items. */
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly text: TextConfig;
  readonly reasoning: { readonly effort: string | null; readonly summary: string | null };
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  /** Number of alternatives per token, or null when log probabilities were not asked for. */
  readonly topLogprobs: number | null;
  readonly user: string | null;
  readonly promptCacheKey: string | null;
  readonly serviceTier: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** What the model server shall know as the cause of the call; left out or null: nothing. */
  readonly trace?: TraceContext | null;
}

/** Token counts of one turn. `inputTokens` includes the cached ones, `outputTokens` the reasoning ones. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

/**
 * What a model says, in no vendor's words. Strictly sequential: an adapter orders interleaved calls itself, so that one
 * block ends where the next begins. Text after a call opens a new message; `call_delta` always belongs to the latest
 * `call_started`.
 */
export type ModelEvent =
  /** `answerId`: what the model server calls this answer, where it calls it anything. */
  | { readonly type: "model_resolved"; readonly model: string; readonly answerId?: string }
  /** Begins a further message even directly after another one. Without it the first text begins the message. */
  | { readonly type: "message_started"; readonly phase?: "commentary" | "final_answer" }
  /** Ends the message that is open, if one is. Without it a message ends where something else begins. */
  | { readonly type: "message_finished" }
  | { readonly type: "text_delta"; readonly text: string; readonly logprobs?: readonly LogProb[] }
  | { readonly type: "annotation"; readonly annotation: Annotation }
  | { readonly type: "refusal_delta"; readonly text: string }
  /** Raw reasoning, as open-weight models show it. */
  | { readonly type: "reasoning_delta"; readonly text: string }
  | { readonly type: "reasoning_summary_delta"; readonly text: string }
  /** The next summary delta begins a further summary part. */
  | { readonly type: "reasoning_summary_break" }
  /** `callId` null: the run makes one. For `custom` the deltas are the free-form input itself, not JSON. */
  | {
      readonly type: "call_started";
      readonly kind: "function" | "custom";
      readonly callId: string | null;
      readonly name: string;
      readonly namespace?: string;
    }
  | { readonly type: "call_delta"; readonly text: string }
  /** `isCut`: the answer broke off within the call, which is incomplete then. */
  | { readonly type: "call_finished"; readonly isCut?: boolean }
  /** A search for tools that the client runs; an item by itself, whole at once. `callId` null: the run makes one. */
  | {
      readonly type: "tool_search";
      readonly callId: string | null;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly isCut?: boolean;
    }
  /** An item by itself, whole at once: what was said so far in short, sealed for its owner. */
  | { readonly type: "compaction"; readonly encryptedContent: string }
  /** More of the sound of what was said, in base64; belongs to no item. Only this server's own voices make it. */
  | { readonly type: "audio_delta"; readonly audio: string }
  /** The words that the following sound begins with. */
  | { readonly type: "audio_transcript_delta"; readonly text: string }
  /** No more sound comes. */
  | { readonly type: "audio_done" }
  | { readonly type: "usage"; readonly usage: ModelUsage }
  | { readonly type: "finished"; readonly reason: "stop" | "length" | "content_filter" };

/**
 * Why a model gave no answer. Before a turn is accepted it becomes the HTTP reply, afterwards `error` +
 * `response.failed`.
 */
export class ModelError extends Error {
  override readonly name = "ModelError";
  /** What HTTP should answer when nothing was sent yet. */
  readonly status: number;
  /** The error object's `type`, such as `server_error`, `rate_limit_error`, `invalid_request_error`. */
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  /** What the message repeats of another server's words: for the caller's eyes only. */
  readonly quoted: string | null;

  constructor(
    message: string,
    fields: {
      status: number;
      type: string;
      code?: string | null;
      param?: string | null;
      retryAfterSeconds?: number | null;
      quoted?: string;
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
  }
}

/** The code of a `ModelError` that says that the model server answers, and that it does not tell its models. */
export const NO_MODEL_LIST = "no_model_list";

export interface ModelDescription {
  readonly id: string;
  /** Unix seconds; 0 where the model server does not tell. */
  readonly created: number;
  readonly ownedBy: string;
  /** Shown to people: says for instance that the built-in engine is one. */
  readonly description?: string;
}

/** How many tokens a turn's input takes. */
export interface TokenCount {
  readonly tokens: number;
  /** Whether the model's own tokenizer and chat template said so; else it is an estimate. */
  readonly exact: boolean;
}

/** What a model server takes beside text. What it does not take is made into something that it does, or refused. */
export interface ModelAbilities {
  readonly images: boolean;
  /** Whether it fetches pictures by URL itself; else they are given to it as data URLs. */
  readonly imageUrls: boolean;
  /** Whether it reads files that are not text, such as PDFs. */
  readonly files: boolean;
  /** The formats of sound that it hears. */
  readonly audioFormats: readonly ("mp3" | "wav")[];
}

/** Answers turns. One implementation per vendor dialect. */
export interface ModelEngine {
  /** Shown in logs and by the start banner. */
  readonly name: string;
  readonly abilities: ModelAbilities;
  /**
   * Resolves once the model server has accepted the turn, rejects with `ModelError` if it refused it (unknown model, no
   * quota, too long). Batches hold what arrived together; an empty batch is never yielded. The iterable throws
   * `ModelError` if the turn dies later and ends early, without throwing, when `signal` aborts. Leaving the iteration
   * aborts the upstream call.
   */
  sample(request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<readonly ModelEvent[]>>;
  listModels(signal: AbortSignal): Promise<readonly ModelDescription[]>;
  /**
   * The input tokens that `sample` would report for this turn. May ask the model server; rejects with `ModelError` for
   * what `sample` would refuse unasked.
   */
  countTokens(request: ModelRequest, signal: AbortSignal): Promise<TokenCount>;
  /**
   * How many tokens input and answer may take together; null where neither the operator nor the model server tells.
   * Remembered, never an error.
   */
  contextWindow(model: string, signal: AbortSignal): Promise<number | null>;
}

/** A numbered wire event and its JSON, made once and used for storage and every reader. */
export interface RecordedEvent {
  readonly number: number;
  readonly event: ResponseStreamEvent;
  /** Compact JSON of `event`, `sequence_number` included, `obfuscation` not. */
  readonly json: string;
}

/** What is stored when a run begins. */
export interface OpenedRun {
  readonly owner: Owner;
  /** The snapshot of `response.created`. */
  readonly response: Response;
  /** The items of this request, normalised and with ids, in the order sent. */
  readonly inputItems: readonly StoredItem[];
  /**
   * Plain JSON from which the run can be begun again after a crash; null for a run that belongs to a request, which
   * dies with it.
   */
  readonly task?: string | null;
  /** Whether its events were asked for (absent: no); decides how the reference's cancel and replay answer. */
  readonly streamed?: boolean;
}

/** What is stored when a run ends, in the transaction that stores its last events. */
export interface ClosedRun {
  readonly response: Response;
  readonly outputItems: readonly OutputItem[];
}

/**
 * The run is another worker's by now, or deleted: nothing more can be stored of it here, and nothing more may be shown.
 */
export class RunLost extends Error {
  override readonly name = "RunLost";
}

/**
 * Events of stored runs, durable when the promise resolves. Appends of all runs share commits. Rejects with `RunLost`
 * where this worker no longer holds the run.
 */
export interface EventLog {
  open(run: OpenedRun, events: readonly RecordedEvent[]): Promise<void>;
  append(responseId: string, events: readonly RecordedEvent[]): Promise<void>;
  /** Appends, and replaces the stored snapshot of a run that goes on. */
  advance(responseId: string, events: readonly RecordedEvent[], response: Response): Promise<void>;
  close(responseId: string, events: readonly RecordedEvent[], end: ClosedRun): Promise<void>;
  /** Stored events with a number above `after` (−1: all), oldest first, in batches. Ends at the last stored event. */
  read(responseId: string, after: number): AsyncIterable<readonly RecordedEvent[]>;
}

/** A run that has not ended and that no living worker holds. */
export interface AbandonedRun {
  readonly owner: Owner;
  readonly response: Response;
  /** Null: it cannot be begun again, or this worker has ended it already, though not in the store. */
  readonly task: string | null;
  /** How often it was begun again already. */
  readonly restarts: number;
}

/**
 * Which worker holds which run. A worker is one server process; it holds its runs for as long as it renews its lease,
 * and its number, which never comes twice, stands in every row it may change: what a worker writes after it lost a run
 * changes nothing.
 */
export interface RunLedger {
  /**
   * Takes over up to `limit` runs that nobody makes: their workers are gone, or they are this worker's and not `isHere`
   * (absent: all are). They are this worker's from then on. `isHere` has to know a run from before it is stored until
   * after its end is.
   */
  claimAbandoned(limit: number, isHere?: (responseId: string) => boolean): Promise<readonly AbandonedRun[]>;
  /** The runs that this worker holds. */
  listHeld(): Promise<readonly string[]>;
  /** Notes that a run is begun again. */
  countRestart(responseId: string): Promise<void>;
  /** Leaves a run to whichever worker claims it next. */
  release(responseId: string): Promise<void>;
  /** Keeps this worker's runs for another term. False: the lease had been lost, and so were all its runs. */
  renewLease(): Promise<boolean>;
  /** Asks the worker that holds the run to stop it. */
  askToStop(responseId: string): Promise<void>;
  /** The runs of this worker that somebody asked to stop. */
  listStopsAsked(): Promise<readonly string[]>;
}

/** A run as those see it that watch over the server. */
export interface WatchedRun {
  readonly responseId: string;
  /** Of the request that began it; null if that was another worker's. */
  readonly requestId: string | null;
  /** As it was asked for. */
  readonly model: string;
  readonly isBackground: boolean;
  readonly trace: TraceContext | null;
}

/**
 * Follows one run for metrics, traces and logs. Nothing here may throw; `said` is called for every batch and must cost
 * next to nothing.
 */
export interface RunWatch {
  /** The trace that calls made for the run belong to. */
  readonly trace: TraceContext | null;
  /** Its model is asked: what waited waits no longer. */
  began(): void;
  /** Events were made of what the model said. */
  said(events: number): void;
  /** The model gave up, or another fault ended the run. */
  failed(fault: unknown): void;
  /** The run has ended here, and this is its final snapshot. */
  ended(response: Response): void;
  /** There is no run: it was refused before anything was shown. */
  refused(reason: unknown): void;
  /** Another worker goes on with it, or nobody does because it was deleted. */
  left(): void;
}

/** Told of every run. */
export interface RunObserver {
  watch(run: WatchedRun): RunWatch;
}

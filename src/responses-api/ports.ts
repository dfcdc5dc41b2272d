import type {
  Conversation,
  FileObject,
  InputAudio,
  OutputAudio,
  Response,
  StoredInputFile,
  StoredInputText,
  StoredItem,
  ToolOutputContentPart,
} from "../../generated/responses-api/types.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { HostedItem, ModelEvent, ModelUsage, Owner } from "../runs/ports.ts";
import type { ToolKind, ToolUsage } from "./hosted-tool.ts";

export { StoreAway, StoreBusy } from "../runs/ports.ts";

/** The items of a conversation, oldest first. */
export interface ConversationItems {
  readonly items: readonly StoredItem[];
  /** Ids of calls of which a client once deleted the call or its output. The deleted half may have been added again. */
  readonly splitCalls: ReadonlySet<string>;
}

/** The items that a response adds to the context of the next response. */
export interface ChainLink {
  readonly responseId: string;
  readonly status: Response["status"];
  /** The items of its conversation that it saw and that still exist; null if it was made in no conversation. */
  readonly seen: ConversationItems | null;
  /** Its input items, then its output items. */
  readonly items: readonly StoredItem[];
}

/** A response, and facts about it that its body does not show. */
export interface StoredResponse {
  readonly response: Response;
  /** Whether its request asked for `stream`. */
  readonly streamed: boolean;
}

/** A page may have fewer items than requested and still have `hasMore`, because the text of a page is limited too. */
export interface ItemPage {
  readonly items: readonly StoredItem[];
  readonly hasMore: boolean;
}

export interface PageRequest {
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** An exclusive cursor: the id of the last item of the page before; null for the first page. */
  readonly after: string | null;
}

export interface InputPageRequest extends PageRequest {
  /** An item id before which the page ends; null if only `limit` ends it. */
  readonly before: string | null;
  /** Whether the items of earlier responses in the chain are listed too. */
  readonly history: boolean;
}

/**
 * Stored responses and their items. An unknown id and another owner's id give the same result: `null`, `false` or an
 * empty list.
 */
export interface ResponseStore {
  /** The latest stored snapshot. */
  findResponse(owner: Owner, responseId: string): Promise<Response | null>;
  findStored(owner: Owner, responseId: string): Promise<StoredResponse | null>;
  /**
   * Removes the response, its events and its items. If other responses continue it, its items stay until the last of
   * those is removed. Returns false if there was no such response.
   */
  deleteResponse(owner: Owner, responseId: string): Promise<boolean>;
  /**
   * The chain that ends with `responseId`, oldest first, deleted links included; null if a link is unknown to this
   * owner. Rejects with `ContextTooLong` if the chain is larger than the budget.
   */
  loadChain(owner: Owner, responseId: string): Promise<readonly ChainLink[] | null>;
  /**
   * One page of the input items of that create call; with `history`, after the items of its chain. Null if the response
   * or a cursor is unknown.
   */
  listInputItems(owner: Owner, responseId: string, page: InputPageRequest): Promise<ItemPage | null>;
  /**
   * Stored items by id, those of conversations included, for `item_reference`. Unknown ids are absent from the map.
   * Rejects with `ContextTooLong` like `loadChain`.
   */
  findItems(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>>;
  /** Items that responses made, by id; also of deleted responses while others continue them. Inputs are absent. */
  findOutputs(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>>;
}

/** Why a conversation was not changed. */
export type ConversationRefusal =
  | { readonly reason: "unknown" }
  /** A response in progress holds it. */
  | { readonly reason: "locked" }
  | { readonly reason: "unknown_item" }
  /** The conversation already has an item with this id. */
  | { readonly reason: "duplicate_item"; readonly itemId: string };

/** Resolves to null once the change is stored, otherwise to the reason why it was not made. */
export type ConversationChanged = Promise<ConversationRefusal | null>;

/**
 * Stored conversations. Changes are atomic and made one after the other; items keep the order in which they were
 * stored. Another owner's id counts as unknown. `EventLog.close` stores the items that a response adds and releases its
 * conversation.
 */
export interface ConversationStore {
  createConversation(owner: Owner, conversation: Conversation, items: readonly StoredItem[]): Promise<void>;
  findConversation(owner: Owner, conversationId: string): Promise<Conversation | null>;
  replaceMetadata(owner: Owner, conversationId: string, metadata: Conversation["metadata"]): ConversationChanged;
  /** Its items stay and can be referenced as long as a response that was made in it is stored. */
  deleteConversation(owner: Owner, conversationId: string): ConversationChanged;
  /** Adds all of the items or none. */
  addItems(owner: Owner, conversationId: string, items: readonly StoredItem[]): ConversationChanged;
  deleteItem(owner: Owner, conversationId: string, itemId: string): ConversationChanged;
  findItem(owner: Owner, conversationId: string, itemId: string): Promise<StoredItem | null>;
  /** Null if the conversation or the cursor is unknown. */
  listItems(owner: Owner, conversationId: string, page: PageRequest): Promise<ItemPage | null>;
  /**
   * Every item, oldest first; null if the conversation is unknown. Rejects with `ContextTooLong` if they are larger
   * than the budget.
   */
  loadItems(owner: Owner, conversationId: string): Promise<ConversationItems | null>;
  /**
   * Lets only this response change the items, until `unlock` or the response's end. If this process dies, the lock
   * stays only if the response is stored.
   */
  lock(owner: Owner, conversationId: string, responseId: string): ConversationChanged;
  /** Releases the lock if this response holds it. */
  unlock(owner: Owner, conversationId: string, responseId: string): Promise<void>;
}

/** The stored items are larger than one request may load into memory. */
export class ContextTooLong extends Error {
  override readonly name = "ContextTooLong";
}

/** The file is damaged or is no SQLite database. It was not changed. */
export class StoreSpoilt extends Error {
  override readonly name = "StoreSpoilt";
}

/** The storage of files does not answer, or has too much to do. The bytes of no file were shown or lost. */
export class FileStorageAway extends Error {
  override readonly name = "FileStorageAway";

  constructor(cause: unknown) {
    super("the storage of files does not answer", { cause });
  }
}

/** Limits how much is stored for each owner. */
export interface StorageQuota {
  /**
   * Rejects with `StorageQuotaExceeded` if there is no room for `bytes` more, or for any if `bytes` is absent.
   * Concurrent calls may pass together, so a store that writes many bytes at once compares them once more as it writes.
   */
  requireRoom(owner: Owner, bytes?: number): Promise<void>;
}

/** The owner's storage limit is reached. */
export class StorageQuotaExceeded extends Error {
  override readonly name = "StorageQuotaExceeded";
  readonly bytesMax: number;

  constructor(bytesMax: number) {
    super(`the storage limit of ${bytesMax} bytes for each owner is reached`);
    this.bytesMax = bytesMax;
  }
}

export type RateBucket = "requests" | "tokens";

/** A key and its limits. A null limit means the limit of the server's settings. */
export interface RatedKey {
  readonly keyId: string;
  /** The maximum of each in a minute. */
  readonly limits: Readonly<Record<RateBucket, number | null>>;
}

/** How much of a limit is left in the current minute. */
export interface RateStanding {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the whole limit is available again; 0 if it is. */
  readonly resetMs: number;
}

/** A valid API key, without the key itself, which is never stored. */
export interface KnownKey {
  readonly id: string;
  /** The owners that the key may act for. The first is used unless the routing headers name another. */
  readonly owners: readonly [Owner, ...Owner[]];
  /** If false, the key has no owner of its own and the routing headers are ignored. */
  readonly isRouted: boolean;
  readonly limits: RatedKey["limits"];
  /** The kinds of this server's tools that the key may use; all if null or absent. */
  readonly tools?: readonly string[] | null;
}

export interface KeyFinder {
  /** Finds a key by its `hashApiKey`. Null if there is none, or if it was revoked or has expired. */
  findByHash(hash: string): Promise<KnownKey | null>;
}

export interface RateTaking {
  /** If false, less was left than requested and nothing was taken. */
  readonly taken: boolean;
  readonly standing: RateStanding;
  /**
   * Replaces the amount taken by the amount used: charges more or gives back the rest. It runs in the background. Call
   * it at most once.
   */
  correct(used: number): void;
}

/** Counts the requests and tokens of each key. */
export interface RateLimiter {
  take(key: RatedKey, bucket: RateBucket, amount: number): Promise<RateTaking>;
  standing(key: RatedKey, bucket: RateBucket): Promise<RateStanding>;
}

/** The record of an uploaded file. Times are in Unix seconds. */
export interface StoredFile {
  /** Begins with `file-`. */
  readonly id: string;
  readonly purpose: FileObject["purpose"];
  /** The name, like the type below, is the client's and must not be trusted. */
  readonly filename: string;
  readonly mimeType: string;
  /** The size of the file. */
  readonly bytes: number;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** A file that is being uploaded. `content` is read once, to its end. */
export interface IncomingFile extends Pick<StoredFile, "purpose" | "filename" | "mimeType"> {
  readonly content: AsyncIterable<Uint8Array>;
  /** Seconds from its creation until it expires; null if it never does. */
  readonly expiresAfter: number | null;
}

/** A file with its whole content in memory. */
export interface FileContent extends Pick<StoredFile, "filename" | "mimeType"> {
  readonly bytes: Uint8Array;
}

/**
 * A file whose content is read from the disk while it is iterated. Iterate at most once; leaving the loop early closes
 * the file.
 */
export interface FileStream {
  readonly file: StoredFile;
  readonly content: AsyncIterable<Uint8Array>;
}

export interface FilePageRequest extends PageRequest {
  /** Lists only files with this purpose; all if null. */
  readonly purpose: string | null;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

/** Uploaded files. The id of an unknown, expired or another owner's file gives `null` or `false`. */
export interface FileStore {
  /**
   * Resolves once the file is durable. If `content` or the disk fails or `signal` aborts, no part of the file stays.
   */
  createFile(owner: Owner, file: IncomingFile, signal?: AbortSignal): Promise<StoredFile>;
  findFile(owner: Owner, fileId: string): Promise<StoredFile | null>;
  /** Files in the order of their creation; null if the cursor is unknown. */
  listFiles(owner: Owner, page: FilePageRequest): Promise<FilePage | null>;
  readFile(owner: Owner, fileId: string): Promise<FileContent | null>;
  streamFile(owner: Owner, fileId: string): Promise<FileStream | null>;
  /** Returns false if there was no such file. */
  deleteFile(owner: Owner, fileId: string): Promise<boolean>;
  /**
   * Removes the files of all owners that had expired by `now` (in Unix seconds), and the remains of broken uploads.
   * Resolves to the number of expired files.
   */
  deleteExpired(now: number): Promise<number>;
}

/** How an answer is spoken, with all defaults filled in. Plain JSON. */
export interface SpeechOutput {
  readonly format: "mp3" | "opus" | "pcm16" | "wav";
  /** Null for the default voice. */
  readonly voice: string | null;
  readonly sampleRateHz: number;
}

export type SettledSpeech =
  | { readonly type: "settled"; readonly speech: SpeechOutput }
  /** This server cannot speak it this way. `reason` is a whole sentence that says what would help. */
  | { readonly type: "refused"; readonly param: string; readonly reason: string }
  | { readonly type: "unknown_voice"; readonly voice: string; readonly voices: readonly string[] };

/** Speaks answers while the model writes them. */
export interface SpokenOutput {
  /** Fills in the defaults of a request and checks that it can be spoken. */
  settle(asked: OutputAudio, signal: AbortSignal): Promise<SettledSpeech>;
  /** Adds sound events to a turn. If the voice fails, the failure is logged and the sound ends; the text continues. */
  speak(
    turn: AsyncIterable<readonly ModelEvent[]>,
    run: { readonly responseId: string; readonly speech: SpeechOutput; readonly signal: AbortSignal },
  ): AsyncIterable<readonly ModelEvent[]>;
}

/** A picture in a request: a URL, a data URL, or an uploaded file. */
export interface ImageSource {
  readonly image_url?: string | null;
  readonly file_id?: string | null;
}

/** Converts pictures, files and recordings into forms that the model in use can take. */
export interface MediaReader {
  /** A reader for the parts of one request, which share one budget of fetched bytes. `signal` stops all reading. */
  forRequest(owner: Owner, signal: AbortSignal): RequestMedia;
}

/** Each call rejects with `MediaError` if the part cannot be converted, or with the reason of the request's signal. */
export interface RequestMedia {
  /** A URL that the model can read: http(s) if it fetches pictures itself, otherwise a data URL. */
  readImage(image: ImageSource): Promise<string>;
  /** The file with its content in `file_data`, or its text with its name. */
  readFile(file: StoredInputFile): Promise<StoredInputFile | StoredInputText>;
  /**
   * The recording in a format that the model takes, or its transcript. `isAlone` is true if the message has no other
   * part.
   */
  readAudio(audio: InputAudio, isAlone: boolean): Promise<InputAudio | StoredInputText>;
}

/** A part of the input cannot be converted. The message is a whole sentence for the caller. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly code: string;
  /** The faulty member of the part, such as `image_url`; null for the input as a whole. */
  readonly member: string | null;
  /** True if a service that this server needs has failed; false if the part is at fault. */
  readonly isServerFault: boolean;
  /** Seconds after which the same request may succeed; null if unknown. */
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    fields: {
      code: string;
      member: string | null;
      isServerFault?: boolean;
      retryAfterSeconds?: number;
      cause?: unknown;
    },
  ) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.member = fields.member;
    this.isServerFault = fields.isServerFault ?? false;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
  }
}

/** A call of a hosted function before it runs. */
export interface BegunExchange {
  /** The id of the item that shows the call. */
  readonly itemId: string;
  readonly callId: string;
  readonly name: string;
  /** The label of the MCP server; null for the tools of this server. */
  readonly server: string | null;
  /** JSON text, word for word as the model wrote it. */
  readonly arguments: string;
  /** What a second run of the call could do. */
  readonly effect: "none" | "sandboxed" | "may_have";
  /** The approval that allowed it. An approval is spent by its first call. */
  readonly approvalRequestId: string | null;
  /** The turn of the model that made it, from 1; 0 if it ran before the model was asked. */
  readonly turn: number;
}

/** How a call ended, as the model is shown it. */
export interface FinishedExchange {
  readonly itemId: string;
  /** The last form of the item, whole, whatever the request includes. */
  readonly item: HostedItem;
  readonly output: string;
  readonly parts: readonly ToolOutputContentPart[];
  /** What it adds to `tool_usage`; null if nothing. */
  readonly usage: ToolUsage | null;
  /** `unknown`: the call was interrupted, and nobody knows whether it took effect. */
  readonly outcome: "finished" | "unknown";
  /** The last forms of the items that follow it, such as the output of a shell call. */
  readonly following?: readonly HostedItem[];
}

/** A turn of the model that has ended. */
export interface TurnInLedger {
  /** From 1. */
  readonly number: number;
  readonly usage: ModelUsage;
  /** What the model decided, so that it is never asked again; null for a turn that an earlier release has stored. */
  readonly decision: TurnDecision | null;
}

/** All that a model said and called in a turn. Plain JSON. */
export interface TurnDecision {
  readonly finish: TurnFinish;
  /** In the order in which the model made them. */
  readonly parts: readonly DecidedPart[];
}

/** Why a model ended its turn. */
export type TurnFinish = Extract<ModelEvent, { type: "finished" }>["reason"];

export type DecidedPart =
  /** An item that the model wrote as a whole: a message, reasoning, or a call of the client. `events` make it. */
  | { readonly type: "said"; readonly item: "message" | "reasoning" | "call"; readonly events: readonly ModelEvent[] }
  /** A call of one of this server's tools. */
  | DecidedCall;

export interface DecidedCall {
  readonly type: "call";
  /** Null if its item begins only when it runs, or if it has none. */
  readonly itemId: string | null;
  readonly callId: string;
  readonly name: string;
  readonly server: string | null;
  /** JSON text. */
  readonly arguments: string;
  /** What the model is told in place of a result, if the call is not run; null if it is. */
  readonly refusal: string | null;
}

/** A call that is known to have begun. `result` is null until it has ended. */
export interface KnownExchange extends BegunExchange {
  readonly result: FinishedExchange | null;
}

/** An approval allows one call, and a call was made with it already. */
export class ApprovalSpent extends Error {
  override readonly name = "ApprovalSpent";
}

/** The calls of hosted functions, word for word as the model made and saw them. They go with their items. */
export interface ToolLedger {
  /**
   * Durable when it resolves, which is before the call runs. A call without effects may begin again under its item.
   * Rejects with `RunLost` if another worker has the run, and with `ApprovalSpent`.
   */
  begin(owner: Owner, responseId: string, exchange: BegunExchange): Promise<void>;
  /** Durable when it resolves, which is before the end of the item is shown. Rejects as `begin` does. */
  finish(owner: Owner, responseId: string, result: FinishedExchange): Promise<void>;
  /** Stores what a turn used. Durable when it resolves. Rejects as `begin` does. */
  endTurn(owner: Owner, responseId: string, turn: TurnInLedger): Promise<void>;
  /** The turns of this response that have ended, oldest first. */
  turnsOf(owner: Owner, responseId: string): Promise<readonly TurnInLedger[]>;
  /** The calls that these items show. Unknown ids and those of other owners are absent. */
  find(owner: Owner, itemIds: readonly string[]): Promise<ReadonlyMap<string, KnownExchange>>;
  /** All calls that this response has begun, in no order. */
  listOf(owner: Owner, responseId: string): Promise<readonly KnownExchange[]>;
  /**
   * Marks an approval as used by a response that is not stored; does nothing if its request is not stored either.
   * Durable when it resolves. Rejects with `ApprovalSpent`.
   */
  spend(owner: Owner, responseId: string, approvalRequestId: string): Promise<void>;
  /** Those of these approvals that were used. */
  findSpent(owner: Owner, approvalRequestIds: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Follows the calls of hosted functions, for metrics, traces and logs. No method may throw. */
export interface ToolObserver {
  /** A call begins to run. */
  began(call: WatchedToolCall): ToolWatch;
  /** A response with tools of this server has ended after so many turns of its model. */
  ended(turns: number): void;
  /** A limit ended or narrowed the loop of a response. */
  limited(limit: ToolLimit): void;
  /** A tool was left out of a request. */
  omitted(kind: string): void;
}

export type ToolLimit = "max_tool_calls" | "calls" | "turns" | "output_tokens" | "repeated";

export interface WatchedToolCall {
  readonly responseId: string;
  readonly kind: ToolKind;
  readonly trace: TraceContext | null;
}

/**
 * How a call ended. `unknown`: it may have taken effect; `asked`: the client is asked; `told`: only the model;
 * `broken`: this server has a fault.
 */
export type ToolCallEnd = "completed" | "failed" | "unknown" | "incomplete" | "asked" | "told" | "broken" | "cut";

export interface ToolWatch {
  ended(outcome: ToolCallEnd): void;
}

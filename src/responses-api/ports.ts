import type {
  Conversation,
  FileObject,
  InputAudio,
  OutputAudio,
  Response,
  StoredInputFile,
  StoredInputText,
  StoredItem,
} from "../../generated/responses-api/types.ts";
import type { ModelEvent, Owner } from "../runs/ports.ts";

/** The items of a conversation, oldest first. */
export interface ConversationItems {
  readonly items: readonly StoredItem[];
  /** The ids of calls of which a client has deleted one half, the call or its output; both can be there again. */
  readonly splitCalls: ReadonlySet<string>;
}

/** The items a response adds to the context of the next one. */
export interface ChainLink {
  readonly responseId: string;
  readonly status: Response["status"];
  /** What it saw of the conversation it was made in, as far as that is still there; null: it was made in none. */
  readonly seen: ConversationItems | null;
  /** Its input, then its output. */
  readonly items: readonly StoredItem[];
}

/** A response and what its body does not tell. */
export interface StoredResponse {
  readonly response: Response;
  /** Whether it was made with `stream`. */
  readonly streamed: boolean;
}

/** `hasMore` can be true of a page with fewer items than were asked for, because a page's text is bounded too. */
export interface ItemPage {
  readonly items: readonly StoredItem[];
  readonly hasMore: boolean;
}

export interface PageRequest {
  readonly limit: number;
  readonly order: "asc" | "desc";
  /** Exclusive cursor: the id of the last item of the page before. */
  readonly after: string | null;
}

export interface InputPageRequest extends PageRequest {
  /** Ends the page before this item; null: nowhere before its limit. */
  readonly before: string | null;
  /** Whether what came before the response in its chain is listed too. */
  readonly history: boolean;
}

/**
 * Stored responses and their items. A foreign or unknown id is `null`, `false` or an empty list, never an error that
 * tells them apart.
 */
export interface ResponseStore {
  /** The latest stored snapshot. */
  findResponse(owner: Owner, responseId: string): Promise<Response | null>;
  findStored(owner: Owner, responseId: string): Promise<StoredResponse | null>;
  /**
   * Removes the response, its events, and its items unless a response continues it: then they go with the last that
   * does. False if there was none.
   */
  deleteResponse(owner: Owner, responseId: string): Promise<boolean>;
  /**
   * The chain that ends with `responseId`, oldest first, deleted links included; null if any link is unknown to this
   * owner. Rejects with `ContextTooLong` rather than read more than the budget allows.
   */
  loadChain(owner: Owner, responseId: string): Promise<readonly ChainLink[] | null>;
  /**
   * One page of exactly the items supplied to that create call, or with `history` after those of its chain; null if the
   * response, or a cursor, is unknown.
   */
  listInputItems(owner: Owner, responseId: string, page: InputPageRequest): Promise<ItemPage | null>;
  /**
   * Stored items by id, for `item_reference`, those of conversations among them; unknown ids are absent from the map.
   * Rejects with `ContextTooLong` like `loadChain`.
   */
  findItems(owner: Owner, ids: readonly string[]): Promise<ReadonlyMap<string, StoredItem>>;
}

/** Why a conversation was left as it was. */
export type ConversationRefusal =
  | { readonly reason: "unknown" }
  /** A response is being made in it. */
  | { readonly reason: "locked" }
  | { readonly reason: "unknown_item" }
  /** An item of this id stands in it already. */
  | { readonly reason: "duplicate_item"; readonly itemId: string };

/** What a change resolves to: null once it is stored. */
export type ConversationChanged = Promise<ConversationRefusal | null>;

/**
 * Stored conversations. Changes are stored one after the other, each as a whole; items stay in the order in which they
 * were stored. A foreign id behaves as an unknown one. What a response adds is stored with its end (`EventLog.close`),
 * which frees the conversation too.
 */
export interface ConversationStore {
  createConversation(owner: Owner, conversation: Conversation, items: readonly StoredItem[]): Promise<void>;
  findConversation(owner: Owner, conversationId: string): Promise<Conversation | null>;
  replaceMetadata(owner: Owner, conversationId: string, metadata: Conversation["metadata"]): ConversationChanged;
  /** Its items stay, and can be referred to, for as long as a response is stored that was made in it. */
  deleteConversation(owner: Owner, conversationId: string): ConversationChanged;
  /** All of them or none. */
  addItems(owner: Owner, conversationId: string, items: readonly StoredItem[]): ConversationChanged;
  deleteItem(owner: Owner, conversationId: string, itemId: string): ConversationChanged;
  findItem(owner: Owner, conversationId: string, itemId: string): Promise<StoredItem | null>;
  /** Null if the conversation or the cursor is unknown. */
  listItems(owner: Owner, conversationId: string, page: PageRequest): Promise<ItemPage | null>;
  /**
   * Every item, oldest first; null if the conversation is unknown. Rejects with `ContextTooLong` rather than read more
   * than the budget allows.
   */
  loadItems(owner: Owner, conversationId: string): Promise<ConversationItems | null>;
  /**
   * Keeps everyone but this response from changing the items, until `unlock` or the response's end. Outlives this
   * process only together with the stored response.
   */
  lock(owner: Owner, conversationId: string, responseId: string): ConversationChanged;
  /** Frees what this response holds, if anything. */
  unlock(owner: Owner, conversationId: string, responseId: string): Promise<void>;
}

/** What is stored is more than one request may bring into memory. */
export class ContextTooLong extends Error {
  override readonly name = "ContextTooLong";
}

/** Another process has held the lock of the database for longer than anyone waits for it. Nothing was changed. */
export class StoreBusy extends Error {
  override readonly name = "StoreBusy";

  constructor(waitedMs: number, cause: unknown) {
    super(`Another process has kept the database locked for more than ${waitedMs} ms.`, { cause });
  }
}

/** The database is no database, or its content contradicts itself. What is in the file was left as it is. */
export class StoreSpoilt extends Error {
  override readonly name = "StoreSpoilt";

  constructor(cause: unknown) {
    const said = cause instanceof Error ? ` (${cause.message})` : "";
    super(`The database is damaged, or no SQLite database${said}.`, { cause });
  }
}

/** Limits how much is stored for each owner. */
export interface StorageQuota {
  /**
   * Rejects with `StorageQuotaExceeded` if so many bytes more (absent: any at all) are too much. Whoever comes at the
   * same time may pass together.
   */
  requireRoom(owner: Owner, bytes?: number): Promise<void>;
}

/** As much is stored for an owner as may be. */
export class StorageQuotaExceeded extends Error {
  override readonly name = "StorageQuotaExceeded";
  readonly bytesMax: number;

  constructor(bytesMax: number) {
    super(`no more than ${bytesMax} bytes are stored for an owner`);
    this.bytesMax = bytesMax;
  }
}

export type RateBucket = "requests" | "tokens";

/** A key as its limits are kept; null: the limits of the server's settings. */
export interface RatedKey {
  readonly keyId: string;
  /** By the minute. */
  readonly limits: Readonly<Record<RateBucket, number | null>>;
}

/** Where a key stands in its present minute. */
export interface RateStanding {
  readonly limit: number;
  readonly remaining: number;
  /** Until all of it is there again; 0 if it is. */
  readonly resetMs: number;
}

/** What is known of a key that may call. Keys themselves are never kept. */
export interface KnownKey {
  readonly id: string;
  /** For whom it may act; for the first of them unless the request is routed to another. */
  readonly owners: readonly [Owner, ...Owner[]];
  /** False: the key was made for nobody in particular, and routing headers mean nothing to it. */
  readonly isRouted: boolean;
  readonly limits: RatedKey["limits"];
}

export interface KeyFinder {
  /** By `hashApiKey`. Null: no key has this hash, or it was revoked, or its time is over. */
  findByHash(hash: string): Promise<KnownKey | null>;
}

export interface RateTaking {
  /** False: there was less left than was asked for, and nothing was taken. */
  readonly taken: boolean;
  readonly standing: RateStanding;
  /**
   * Says what was really used of what was taken; more is charged, less is given back. Nobody waits for it. Call it once
   * at most.
   */
  correct(used: number): void;
}

/** Counts what keys ask and use. */
export interface RateLimiter {
  take(key: RatedKey, bucket: RateBucket, amount: number): Promise<RateTaking>;
  standing(key: RatedKey, bucket: RateBucket): Promise<RateStanding>;
}

/** What is known about an uploaded file. Times are Unix seconds. */
export interface StoredFile {
  /** Begins with `file-`. */
  readonly id: string;
  readonly purpose: FileObject["purpose"];
  /** As the client named it, like the type; neither is to be trusted. */
  readonly filename: string;
  readonly mimeType: string;
  /** Its size. */
  readonly bytes: number;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** A file that comes in. `content` is read to its end once. */
export interface IncomingFile extends Pick<StoredFile, "purpose" | "filename" | "mimeType"> {
  readonly content: AsyncIterable<Uint8Array>;
  /** Seconds after its creation at which it expires; null: never. */
  readonly expiresAfter: number | null;
}

/** A file's bytes as a whole. */
export interface FileContent extends Pick<StoredFile, "filename" | "mimeType"> {
  readonly bytes: Uint8Array;
}

/** A file's bytes as they are read from the disk. Iterate at most once; leaving the loop early lets go of the disk. */
export interface FileStream {
  readonly file: StoredFile;
  readonly content: AsyncIterable<Uint8Array>;
}

export interface FilePageRequest extends PageRequest {
  /** Only files with this purpose; null: all. */
  readonly purpose: string | null;
}

export interface FilePage {
  readonly files: readonly StoredFile[];
  readonly hasMore: boolean;
}

/** Uploaded files. A foreign, unknown or expired id is `null` or `false`. */
export interface FileStore {
  /** Resolves once the file is durable; nothing of it stays if `content` or the disk fails or `signal` aborts. */
  createFile(owner: Owner, file: IncomingFile, signal?: AbortSignal): Promise<StoredFile>;
  findFile(owner: Owner, fileId: string): Promise<StoredFile | null>;
  /** In the order of their creation; null if the cursor is unknown. */
  listFiles(owner: Owner, page: FilePageRequest): Promise<FilePage | null>;
  readFile(owner: Owner, fileId: string): Promise<FileContent | null>;
  streamFile(owner: Owner, fileId: string): Promise<FileStream | null>;
  /** False if there was none. */
  deleteFile(owner: Owner, fileId: string): Promise<boolean>;
  /**
   * Removes the files of all owners that had expired by `now`, and what broken uploads left behind. Resolves to the
   * number of expired files.
   */
  deleteExpired(now: number): Promise<number>;
}

/** How an answer is spoken: settled when it was asked for. Plain JSON. */
export interface SpeechOutput {
  readonly format: "mp3" | "opus" | "pcm16" | "wav";
  /** Null: the voice's own choice. */
  readonly voice: string | null;
  readonly sampleRateHz: number;
}

export type SettledSpeech =
  | { readonly type: "settled"; readonly speech: SpeechOutput }
  /** It cannot be spoken so here; `reason` is a sentence that says what would help. */
  | { readonly type: "refused"; readonly param: string; readonly reason: string }
  | { readonly type: "unknown_voice"; readonly voice: string; readonly voices: readonly string[] };

/** Speaks answers while they are written. */
export interface SpokenOutput {
  /** Fills in what a request leaves open, and finds what would fail later. */
  settle(asked: OutputAudio, signal: AbortSignal): Promise<SettledSpeech>;
  /**
   * The turn with its messages spoken along. A voice that fails ends the sound, is logged, and leaves the text alone.
   */
  speak(
    turn: AsyncIterable<readonly ModelEvent[]>,
    run: { readonly responseId: string; readonly speech: SpeechOutput; readonly signal: AbortSignal },
  ): AsyncIterable<readonly ModelEvent[]>;
}

/** A picture as it is sent: by URL, as a data URL, or as an uploaded file. */
export interface ImageSource {
  readonly image_url?: string | null;
  readonly file_id?: string | null;
}

/** Makes pictures, files and recordings such that the model in use can take them. */
export interface MediaReader {
  /** For the parts of one request, which share what may be fetched for it. `signal` ends whatever is under way. */
  forRequest(owner: Owner, signal: AbortSignal): RequestMedia;
}

/** Each call rejects with `MediaError` for what cannot be made fit, or with the reason of the request's signal. */
export interface RequestMedia {
  /** The URL under which the model can see the picture: http(s) if it fetches by itself, else a data URL. */
  readImage(image: ImageSource): Promise<string>;
  /** The file with its content in `file_data`, or its text under its name. */
  readFile(file: StoredInputFile): Promise<StoredInputFile | StoredInputText>;
  /**
   * The recording in a format that the model hears, or what is said in it; `isAlone`: the message holds nothing else.
   */
  readAudio(audio: InputAudio, isAlone: boolean): Promise<InputAudio | StoredInputText>;
}

/** A part of the input that cannot be made fit. The message is a whole sentence for the caller. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly code: string;
  /** The member of the part that is at fault, such as `image_url`; null: the input as a whole. */
  readonly member: string | null;
  /** Whether something this server relies on failed, and not the part. */
  readonly isOurs: boolean;
  /** When the same request may succeed; null: nobody knows. */
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    fields: {
      code: string;
      member: string | null;
      isOurs?: boolean;
      retryAfterSeconds?: number;
      cause?: unknown;
    },
  ) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.member = fields.member;
    this.isOurs = fields.isOurs ?? false;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
  }
}

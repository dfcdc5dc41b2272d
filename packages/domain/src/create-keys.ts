import type { Owner } from "./owner.ts";

/** A client's key for one intention, such as the header `Idempotency-Key`. */
export interface CreateKey {
  /** Such as `createResponse`. Each operation has keys of its own. */
  readonly operation: string;
  readonly key: string;
  /** Distinguishes the content of requests. */
  readonly fingerprint: string;
  /** Whether what is created is kept, so that it can be found again. */
  readonly isKept: boolean;
}

/** What an earlier request with the same key has created, or is creating. */
export interface KeyedSubject {
  /** Null until it is named. */
  readonly subjectId: string | null;
  readonly isKept: boolean;
  /** Whether its creator is done with it, so that it is kept or was deleted. */
  readonly isOver: boolean;
  /** How often the request was repeated. */
  readonly repeats: number;
  /** The answer, if it was kept with the key. */
  readonly answer: string | null;
}

/** The right of one server to create what a key stands for. */
export interface ClaimedKey {
  readonly owner: Owner;
  readonly key: CreateKey;
  /** The worker that has it. */
  readonly worker: number;
}

export type KeyClaim =
  /** The request is the first one with this key, or whoever took it before has died before anything was kept. */
  | { readonly type: "first"; readonly claimedKey: ClaimedKey }
  | ({ readonly type: "repeated" } & KeyedSubject)
  /** The key was used for another content. */
  | { readonly type: "other_content" };

/**
 * The keys of creates. One server at a time holds a key: if it dies before its subject is kept, the key is free. Keys
 * are forgotten after `KEY_LIFE_SECONDS`.
 */
export interface CreateKeyStore {
  /** Takes the key, or finds what it stands for. Counts a repetition. */
  claim(owner: Owner, key: CreateKey): Promise<KeyClaim>;
  /** Names what will be created under the key. Rejects if another server has taken the key meanwhile. */
  name(claimedKey: ClaimedKey, subjectId: string): Promise<void>;
  /**
   * The subject is kept, or it is over without being kept. `answer`: null if it can be made anew of the subject. While
   * the store is down, this and `release` are retried in the background.
   */
  settle(claimedKey: ClaimedKey, answer: string | null): Promise<void>;
  /** Frees the key, because nothing was created. Does nothing once it is settled. */
  release(claimedKey: ClaimedKey): Promise<void>;
  /** The subject of a key; null if the key is free. Counts nothing. */
  find(owner: Owner, key: CreateKey): Promise<KeyedSubject | null>;
  /** Notes that the reply with this response did not reach its client. `fingerprint`: of the request and its sender. */
  noteLost(owner: Owner, fingerprint: string, responseId: string): Promise<void>;
  /** The oldest response whose reply was lost since then, in Unix seconds. Each is found once. */
  takeLost(owner: Owner, fingerprint: string, since: number): Promise<string | null>;
  /** Whether it was found. */
  isTaken(owner: Owner, fingerprint: string, responseId: string): Promise<boolean>;
  /** Forgets some of the keys that were claimed before this time, in Unix seconds. Resolves to their number. */
  deleteOld(before: number): Promise<number>;
}

export const KEY_LIFE_SECONDS = 86_400;

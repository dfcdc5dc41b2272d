import type { ResponseSteer, SteerInput } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "../owner.ts";

/** About as many inputs may wait for one response. */
export const PENDING_STEERS_MAX = 16;

/** Input that a client adds to a background response. */
export interface NewSteer {
  readonly id: string;
  readonly owner: Owner;
  readonly responseId: string;
  /** The API key for which the successor is made. */
  readonly keyId: string;
  readonly input: SteerInput;
  /** The sealed settings of the successor. */
  readonly settings: string;
}

/** Input that was added to a response. */
export type StoredSteer = Omit<ResponseSteer, "required_input">;

/** All inputs that wait for one response, which has ended. */
export interface DueSteers {
  readonly owner: Owner;
  readonly responseId: string;
  /** Those of the latest input. */
  readonly keyId: string;
  readonly settings: string;
  /** How often a successor was refused for a reason that may pass. */
  readonly attempts: number;
  /** Oldest first. */
  readonly steers: readonly StoredSteer[];
}

/** What becomes of inputs that no successor takes at once. */
export type SteerEnd =
  | { readonly type: "pending" }
  | { readonly type: "failed"; readonly error: NonNullable<ResponseSteer["error"]> }
  /** Tried again later. */
  | { readonly type: "again"; readonly pauseMs: number };

/** The stored inputs of background responses. Every promise resolves once the data is durable. */
export interface SteerStore {
  /** The task of a live background response, as JSON; null if there is none. */
  findTask(owner: Owner, responseId: string): Promise<string | null>;
  /** Stores input for a live response. Null if it has ended, `full` if too much waits for it. */
  add(steer: NewSteer): Promise<StoredSteer | "full" | null>;
  /** All inputs of a response, oldest first. */
  list(owner: Owner, responseId: string): Promise<readonly StoredSteer[]>;
  /** The inputs that wait for what the client owes after this response, oldest first. */
  listPending(owner: Owner, responseId: string): Promise<readonly StoredSteer[]>;
  /** Takes the inputs of a response that has ended; others do not get them for ten seconds. Null if there are none. */
  claim(): Promise<DueSteers | null>;
  settle(steers: DueSteers, end: SteerEnd): Promise<void>;
  /** `listener` is called when a response of this process has ended. */
  listen(listener: () => void): void;
}

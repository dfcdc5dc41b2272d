import type { Generated } from "kysely";

/** Input that a client added to a background response. It is removed with the response. */
export interface SteersTable {
  /** Increases with each accepted input. */
  readonly number: Generated<number>;
  readonly id: string;
  readonly response_id: string;
  readonly organization: string;
  readonly project: string;
  /** The API key for which the successor is made. */
  readonly key_id: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** What the client sent, as JSON. */
  readonly input: string;
  /** The sealed settings of the successor. */
  readonly settings: string;
  /** `pending`: it waits for what the client owes. */
  readonly state: "accepted" | "pending" | "applied" | "failed";
  /** The response that took it; null until then. */
  readonly successor_id: string | null;
  /** The turn of the model that saw it first, counted from the first turn of the steered response. */
  readonly turn: number | null;
  /** Why it was returned: a JSON object, or null. */
  readonly error: string | null;
  /** How often a successor was refused for a reason that may pass. */
  readonly attempts: number;
  /** No process makes the successor before this time, in Unix milliseconds. */
  readonly due_at: number;
}

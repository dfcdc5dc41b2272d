import type { Batch, CreateBatchRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { Generated } from "kysely";

/** Requests of a file. Times are Unix seconds. */
export interface BatchesTable {
  /** Increases with each batch. */
  readonly number: Generated<number>;
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly key_id: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly endpoint: CreateBatchRequest["endpoint"];
  readonly input_file_id: string;
  readonly completion_window: string;
  /** JSON. */
  readonly metadata: string | null;
  readonly output_expires_after: number | null;
  readonly status: Batch["status"];
  readonly in_progress_at: number | null;
  readonly finalizing_at: number | null;
  readonly cancelling_at: number | null;
  /** When it got its last status. */
  readonly ended_at: number | null;
  readonly model: string | null;
  /** A JSON list. */
  readonly errors: string | null;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  /** Named before they are written; null once it has ended without them. */
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  /** 1 until nothing is left to do for it. */
  readonly is_open: number;
  /** Work on it does not begin before this time, in Unix milliseconds. */
  readonly due_at: number;
  /** The worker that checks, finishes or clears it. */
  readonly worker: number | null;
}

/** The lines of open batches. */
export interface BatchLinesTable {
  readonly batch_number: number;
  /** From 1. */
  readonly line: number;
  readonly custom_id: string;
  /** The body of the request as JSON; empty once the line is settled. */
  readonly body: string;
  readonly state: "done" | "failed" | "waiting";
  /** The line of the output file or error file. */
  readonly result: string | null;
  readonly attempts: number;
  /** It is not begun before this time, in Unix milliseconds. */
  readonly due_at: number;
  /** The worker that answers it. */
  readonly worker: number | null;
}

/** The responses of lines. */
export interface BatchRunsTable {
  readonly batch_number: number;
  readonly line: number;
  readonly choice: number;
  readonly response_id: string;
  /** 0 if it is removed once its line is settled. */
  readonly is_kept: number;
}

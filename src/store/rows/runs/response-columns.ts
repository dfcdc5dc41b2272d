import type { Selectable } from "kysely";
import type { ResponsesTable } from "../../database/schema.ts";

/** The columns of a response without its id and owner. */
export type Snapshot = Pick<
  ResponsesTable,
  "status" | "model" | "previous_response_id" | "created_at" | "completed_at" | "body"
>;

/** The columns of a response about the sender, kind and purpose of its request. */
export type Origin = Pick<
  Selectable<ResponsesTable>,
  "kind" | "key_id" | "metadata" | "input_preview" | "notes" | "face" | "face_notes"
>;

/** The columns of a response that are written at its end. */
export type Ending = Pick<
  Selectable<ResponsesTable>,
  "reply_summary" | "event_times" | "input_tokens" | "output_tokens" | "duration_ms" | "first_text_ms"
>;

export const NOT_ENDED: Ending = {
  reply_summary: null,
  event_times: null,
  input_tokens: null,
  output_tokens: null,
  duration_ms: null,
  first_text_ms: null,
};

import type { Batch, BatchError } from "@antiphon/contracts/responses-api/types.ts";
import type { BatchEnding, HeldBatch } from "@antiphon/domain/batches/batch-work.ts";
import type { Selectable } from "kysely";
import type { BatchesTable } from "../database/batch-tables.ts";
import { storedJson } from "../database/stored-json.ts";

type Row = Selectable<BatchesTable>;

/** The batch for clients. Members without a value are left out. */
export function batchForClients(row: Row): Batch {
  const { metadata, in_progress_at, finalizing_at, cancelling_at, model } = row;
  return {
    id: row.id,
    object: "batch",
    ...(cancelling_at === null ? {} : { cancelling_at }),
    completion_window: row.completion_window,
    created_at: row.created_at,
    endpoint: row.endpoint,
    expires_at: row.expires_at,
    ...(finalizing_at === null ? {} : { finalizing_at }),
    ...(in_progress_at === null ? {} : { in_progress_at }),
    input_file_id: row.input_file_id,
    metadata: metadata === null ? null : storedJson<Record<string, string>>(metadata),
    ...(model === null ? {} : { model }),
    request_counts: { completed: row.completed, failed: row.failed, total: row.total },
    status: row.status,
    usage: usageOf(row),
    ...endOf(row),
  };
}

function usageOf(row: Row): Batch["usage"] {
  return {
    input_tokens: row.input_tokens,
    input_tokens_details: { cached_tokens: row.cached_tokens },
    output_tokens: row.output_tokens,
    output_tokens_details: { reasoning_tokens: row.reasoning_tokens },
    total_tokens: row.input_tokens + row.output_tokens,
  };
}

/** What is shown of a batch that is over. Its files are named earlier. */
function endOf({ status, ended_at: at, errors, output_file_id, error_file_id }: Row): Partial<Batch> {
  if (at === null) return {};
  return {
    ...(status === "cancelled" || status === "completed" || status === "expired" || status === "failed"
      ? { [`${status}_at`]: at }
      : {}),
    ...(errors === null ? {} : { errors: { object: "list", data: storedJson<BatchError[]>(errors) } }),
    ...(output_file_id === null ? {} : { output_file_id }),
    ...(error_file_id === null ? {} : { error_file_id }),
  };
}

export function heldBatch(row: Row, worker: number): HeldBatch {
  const { number, id, organization, project, endpoint } = row;
  return {
    number,
    worker,
    id,
    owner: { organization, project },
    endpoint,
    inputFileId: row.input_file_id,
    outputExpiresAfter: row.output_expires_after,
  };
}

/** How a batch of which no further line is begun ends. `isWhole`: whether all lines are settled. */
export function batchEndingOf({ status }: Pick<Row, "status">, isWhole: boolean): BatchEnding {
  if (status === "cancelling") return "cancelled";
  return isWhole ? "completed" : "expired";
}

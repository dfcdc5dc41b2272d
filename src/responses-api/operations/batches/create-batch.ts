import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import { BATCH_FILE_BYTES_MAX, type Batches, OPEN_BATCHES_MAX } from "@antiphon/domain/batches/batches.ts";
import type { FileStore } from "@antiphon/domain/files.ts";
import type { Caller } from "../../access/caller.ts";
import { batchFileTooLarge, fileNotFound, tooManyBatches, wrongFilePurpose } from "../../errors/file-errors.ts";

export interface BatchContext {
  readonly batches: Batches;
  readonly files: Pick<FileStore, "findFile">;
}

/** `POST /v1/batches`: the lines of the file are checked afterwards. */
export function createBatch({ batches, files }: BatchContext): ResponsesApiHandlers<Caller>["createBatch"] {
  return async ({ body }, { principal: { owner, keyId } }) => {
    const { input_file_id: inputFileId, endpoint, completion_window: completionWindow } = body;
    const file = await files.findFile(owner, inputFileId);
    if (file === null) throw fileNotFound(inputFileId);
    if (file.purpose !== "batch") throw wrongFilePurpose(file.purpose);
    if (file.bytes > BATCH_FILE_BYTES_MAX) throw batchFileTooLarge(BATCH_FILE_BYTES_MAX);
    const batch = await batches.create(owner, {
      endpoint,
      inputFileId,
      completionWindow,
      metadata: body.metadata ?? null,
      outputExpiresAfter: body.output_expires_after?.seconds ?? null,
      keyId,
    });
    if (batch === null) throw tooManyBatches(OPEN_BATCHES_MAX);
    return { status: 200, body: batch };
  };
}

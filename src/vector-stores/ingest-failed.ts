import type { VectorStoreFileError } from "@antiphon/contracts/responses-api/types.ts";

/** A file cannot be ingested. The message is a sentence for the client. */
export class IngestFailed extends Error {
  override readonly name = "IngestFailed";
  readonly error: VectorStoreFileError;

  constructor(error: VectorStoreFileError, cause?: unknown) {
    super(error.message, { cause });
    this.error = error;
  }
}

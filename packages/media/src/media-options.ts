import type { FileStore } from "@antiphon/domain/files.ts";
import type { ModelAbilities } from "@antiphon/domain/models/model-engine.ts";
import type { Egress } from "@antiphon/egress/egress.ts";
import type { FileTranscriber } from "@antiphon/speech/recognition/speech-engine.ts";

/** Limits of reading media for a request. */
export interface MediaLimits {
  readonly imageBytesMax: number;
  readonly fileBytesMax: number;
  readonly audioBytesMax: number;
  /** Limit of the bytes that all parts of one request load. */
  readonly requestBytesMax: number;
  /** Limit of the text of one file. */
  readonly charactersMax: number;
  readonly pdfPagesMax: number;
  readonly pdfTimeoutMs: number;
}

/** The ports and limits for reading media. */
export interface MediaOptions {
  readonly egress: Pick<Egress, "fetchGuarded">;
  readonly files: Pick<FileStore, "findFile" | "readFile">;
  /** Null if recordings cannot be transcribed. */
  readonly speech: FileTranscriber | null;
  readonly limits: MediaLimits;
}

/** How the media of one request are read. */
export interface RequestOptions extends MediaOptions {
  /** Those of the model that reads them. */
  readonly abilities: ModelAbilities;
}

import type { Egress } from "../egress/egress.ts";
import type { FileStore } from "../responses-api/ports.ts";
import type { ModelAbilities } from "../runs/ports.ts";
import type { FileTranscriber } from "../speech/speech-engine.ts";

/** How much may be read for a request. */
export interface MediaLimits {
  readonly imageBytesMax: number;
  readonly fileBytesMax: number;
  readonly audioBytesMax: number;
  /** What all parts of one request may have fetched and loaded for them. */
  readonly requestBytesMax: number;
  /** Of the text of one file. */
  readonly charactersMax: number;
  readonly pdfPagesMax: number;
  readonly pdfTimeoutMs: number;
}

/** What media is read with. */
export interface MediaOptions {
  readonly abilities: ModelAbilities;
  readonly egress: Egress;
  readonly files: Pick<FileStore, "findFile" | "readFile">;
  /** Null: no recording can be turned into text. */
  readonly speech: FileTranscriber | null;
  readonly limits: MediaLimits;
}

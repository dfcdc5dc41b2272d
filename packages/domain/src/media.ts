import type { InputAudio, StoredInputFile, StoredInputText } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelAbilities } from "./models/model-engine.ts";
import type { Owner } from "./owner.ts";

/** A picture in a request: a URL, a data URL, or an uploaded file. */
export interface ImageSource {
  readonly image_url?: string | null;
  readonly file_id?: string | null;
}

/** Converts images, files and recordings into forms that a model accepts. */
export interface MediaReader {
  /**
   * Returns a reader for the parts of one request, which share one budget of fetched bytes. Aborting `signal` stops all
   * reading.
   */
  forRequest(owner: Owner, abilities: ModelAbilities, signal: AbortSignal): RequestMedia;
}

/** Each call rejects with `MediaError` if the part cannot be converted, or with the reason of the request's signal. */
export interface RequestMedia {
  /** A URL that the model can read: http(s) if the model fetches images itself, otherwise a data URL. */
  readImage(image: ImageSource): Promise<string>;
  /** The file with its content in `file_data`, or its text with its name. */
  readFile(file: StoredInputFile): Promise<StoredInputFile | StoredInputText>;
  /** The recording in a format that the model accepts, or its transcript. `isAlone`: the message has no other part. */
  readAudio(audio: InputAudio, isAlone: boolean): Promise<InputAudio | StoredInputText>;
}

/** A part of the input cannot be converted. The message is a whole sentence for the caller. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  readonly code: string;
  /** The faulty member of the part, such as `image_url`; null for the input as a whole. */
  readonly member: string | null;
  /** True if a service behind this server failed; false if the part is at fault. */
  readonly isServerFault: boolean;
  /** Seconds after which the same request may succeed; null if unknown. */
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    fields: {
      code: string;
      member: string | null;
      isServerFault?: boolean;
      retryAfterSeconds?: number;
      cause?: unknown;
    },
  ) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.member = fields.member;
    this.isServerFault = fields.isServerFault ?? false;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
  }
}

/**
 * Why a recording cannot be read. `unsupported`: its format is not supported. `broken`: it is damaged, truncated or not
 * of its format. `empty`: it contains no sound. `too_long`: it is longer than allowed.
 */
export type AudioErrorReason = "unsupported" | "broken" | "empty" | "too_long";

/** A recording cannot be read. The message is a sentence without a full stop, which may be shown to callers. */
export class AudioError extends Error {
  override readonly name = "AudioError";
  readonly reason: AudioErrorReason;

  constructor(reason: AudioErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/**
 * `unsupported`: of a kind that cannot be read here. `broken`: it claims to be of one that can. `empty`: no sound is in
 * it. `too_long`: more sound than is allowed.
 */
export type AudioErrorReason = "unsupported" | "broken" | "empty" | "too_long";

/** A recording that cannot be read. The message is a sentence without a full stop, which may be shown. */
export class AudioError extends Error {
  override readonly name = "AudioError";
  readonly reason: AudioErrorReason;

  constructor(reason: AudioErrorReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** Why a call was refused or failed. */
export type EgressReason =
  | "switched_off"
  | "invalid_url"
  | "forbidden"
  | "unreachable"
  | "timeout"
  | "too_many_redirects"
  | "redirected"
  | "bad_status"
  | "bad_encoding"
  | "wrong_type"
  | "too_large";

/**
 * A guarded call failed. The message is a sentence for the caller without a full stop. It contains no address, and no
 * host that the caller did not name.
 */
export class EgressError extends Error {
  override readonly name = "EgressError";
  readonly reason: EgressReason;

  constructor(reason: EgressReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

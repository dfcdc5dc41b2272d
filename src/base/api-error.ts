export interface ApiErrorFields {
  /** HTTP status; on a stream or socket, what HTTP would have answered. */
  readonly status: number;
  readonly type: string;
  /** The reference's specific code, or null where it has none (see `renderError` of each interface). */
  readonly code: string | null;
  readonly message: string;
  /** Path of the offending member, such as `input[0].content`, or null. */
  readonly param?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the message repeats of another server's words: for the caller's eyes only. */
  readonly quoted?: string | null;
  readonly cause?: unknown;
}

/**
 * The caller's or the world's fault, and in the contract. Made only by the named functions of each interface's errors.
 */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly quoted: string | null;

  constructor(fields: ApiErrorFields) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.status = fields.status;
    this.type = fields.type;
    this.code = fields.code;
    this.param = fields.param ?? null;
    this.headers = fields.headers ?? {};
    this.quoted = fields.quoted ?? null;
  }
}

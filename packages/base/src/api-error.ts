export interface ApiErrorFields {
  /** HTTP status; on a stream or socket, the status that HTTP would have had. */
  readonly status: number;
  readonly type: string;
  /** The error code of the contract, or null if the error has none. */
  readonly code: string | null;
  readonly message: string;
  /** Path of the offending member, such as `input[0].content`, or null. */
  readonly param?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text of another server in the message. Shown to the caller and never logged. */
  readonly quoted?: string | null;
  readonly cause?: unknown;
}

/**
 * An error of the contract: a fault of the caller or of another server. Created only by the named functions of each
 * interface's errors.
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

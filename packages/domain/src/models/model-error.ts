/**
 * Why a model gave no answer. Before a turn is accepted, it becomes the HTTP reply; afterwards, the events `error` and
 * `response.failed`.
 */
export class ModelError extends Error {
  override readonly name = "ModelError";
  /** The HTTP status of the reply, if nothing was sent yet. */
  readonly status: number;
  /** The error object's `type`, such as `server_error`, `rate_limit_error`, `invalid_request_error`. */
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  /** The part of the message that quotes another server. Shown to the caller but not logged. */
  readonly quoted: string | null;
  /** Whether a retry of the turn may succeed. `once`: the fault is likely to recur. */
  readonly retry: "often" | "once" | "never";

  constructor(
    message: string,
    fields: {
      status: number;
      type: string;
      code?: string | null;
      param?: string | null;
      retryAfterSeconds?: number | null;
      quoted?: string;
      retry?: ModelError["retry"];
      cause?: unknown;
    },
  ) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.status = fields.status;
    this.type = fields.type;
    this.code = fields.code ?? null;
    this.param = fields.param ?? null;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
    this.quoted = fields.quoted ?? null;
    this.retry = fields.retry ?? "never";
  }
}

/** The code of a `ModelError` for a model server that is reachable but does not list its models. */
export const NO_MODEL_LIST = "no_model_list";

/** The child cannot serve a request. The message is a sentence; the fields are those of chat completions' errors. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;
  /** In seconds; null if a retry cannot help. */
  readonly retryAfterSeconds: number | null;
  /** Further members of the error object. */
  readonly more: Readonly<Record<string, number>>;

  constructor(
    message: string,
    {
      status = 400,
      param = null,
      code = null,
      retryAfterSeconds = null,
      more = {},
    }: Partial<Pick<RequestRefused, "status" | "param" | "code" | "retryAfterSeconds" | "more">> = {},
  ) {
    super(message);
    this.status = status;
    this.param = param;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.more = more;
  }
}

/** The input does not fit into the window. */
export function tooLongForWindow(promptTokens: number, window: number): RequestRefused {
  return new RequestRefused(
    `This model's maximum context length is ${window} tokens. However, your messages resulted in ${promptTokens} tokens.`,
    { code: "context_length_exceeded", param: "messages", more: { n_prompt_tokens: promptTokens, n_ctx: window } },
  );
}

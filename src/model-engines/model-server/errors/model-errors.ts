import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { TooLong } from "./too-long.ts";

const SERVER_FAULT = { type: "server_error", code: "server_error" } as const;
const CALLER_FAULT = { status: 400, type: "invalid_request_error" } as const;

/** The model server broke the protocol. `what` completes the sentence "The model server …". */
export function brokenAnswer(what: string): ModelError {
  return new ModelError(`The model server ${what}.`, { ...SERVER_FAULT, status: 502, retry: "once" });
}

/** The answer ended before it was complete. */
export function cutAnswer(cause?: unknown): ModelError {
  const message = "The model server broke off in the middle of its answer.";
  return new ModelError(message, { ...SERVER_FAULT, status: 502, retry: "often", cause });
}

/** The message omits the address, because callers need not know the operator's network. */
export function unreachable(reason: string, cause: unknown): ModelError {
  const message = `Cannot reach the model server: ${reason}.`;
  return new ModelError(message, { ...SERVER_FAULT, status: 502, retry: "often", cause });
}

/** The model server cannot be trusted. */
export function untrustedServer(reason: string, cause: unknown): ModelError {
  return new ModelError(`Cannot reach the model server: ${reason}.`, { ...SERVER_FAULT, status: 502, cause });
}

/** The base URL is wrong, which only the operator can fix. */
export function noSuchPath(api: string): ModelError {
  const message = `The model server has no ${api} under the URL that this server has for it (MODEL_BASE_URL), which usually ends in /v1; your request is not the cause.`;
  return new ModelError(message, { ...SERVER_FAULT, status: 502 });
}

export function tooSlow(reason: string, cause?: unknown): ModelError {
  return new ModelError(`The model server ${reason}.`, { ...SERVER_FAULT, status: 504, retry: "often", cause });
}

/** A parameter that the model server's API cannot express. Refused instead of silently dropped. */
export function unsupportedParameter(param: string, message: string): ModelError {
  return new ModelError(message, { ...CALLER_FAULT, code: "unsupported_parameter", param });
}

export function invalidInput(message: string, param = "input", code: string | null = null): ModelError {
  return new ModelError(message, { ...CALLER_FAULT, code, param });
}

export function modelNotFound(model: string): ModelError {
  return new ModelError(`The requested model '${model}' does not exist.`, {
    ...CALLER_FAULT,
    code: "model_not_found",
    param: "model",
  });
}

export class InputTooLong extends ModelError implements TooLong {
  readonly tokenCount: number | null;
  readonly window: number | null;

  constructor({ tokenCount, window }: TooLong) {
    super("Your input exceeds the context window of this model. Please adjust your input and try again.", {
      ...CALLER_FAULT,
      code: "context_length_exceeded",
      param: "input",
    });
    this.tokenCount = tokenCount;
    this.window = window;
  }
}

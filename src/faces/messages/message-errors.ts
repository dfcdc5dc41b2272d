import type { ApiError } from "@antiphon/base/api-error.ts";
import type { MessagesErrorBody, MessagesFault } from "@antiphon/contracts/messages/types.ts";
import type { ErrorForm, ErrorReply } from "@antiphon/http-kit/faults.ts";
import { invalidRequest } from "../../responses-api/errors/invalid-request.ts";

/** The paths whose errors have this form. */
const PATHS = /^(?:\/v1)+\/messages(?:\/|$)/;

const TYPES: Readonly<Record<number, MessagesFault["type"]>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const THREADS = "thread_unsupported_request";

/** Clients that know this error send the whole conversation instead. */
export function threadsUnsupported(): ApiError {
  const message = "No conversations are kept here: send all messages, without 'thread'.";
  return invalidRequest(400, THREADS, "thread", message);
}

/** The form of errors of the messages door; null for paths of other doors. */
export function messagesErrorForm(path: string): ErrorForm | null {
  return PATHS.test(path) ? errorReplyOf : null;
}

function errorReplyOf(error: ApiError, requestId: string): ErrorReply {
  const status = statusOf(error);
  const type = TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  const fault: MessagesFault = {
    type,
    message: messageOfError(error),
    ...(error.code === THREADS ? { details: { error_code: THREADS, unsupported: [] } } : {}),
  };
  const body: MessagesErrorBody = { type: "error", error: fault, request_id: requestId };
  return { status, headers: { ...error.headers, "request-id": requestId }, body };
}

/** Another status than that of the Responses API, where Anthropic's clients know one. */
function statusOf({ status, code }: ApiError): number {
  if (code === "model_not_found") return 404;
  return status === 503 ? 529 : status;
}

/** Members of a create request, and the member of a message request that they come from. */
const MEMBERS: readonly (readonly [from: string, to: string])[] = [
  ["max_output_tokens", "max_tokens"],
  ["text.format", "output_config.format"],
  ["reasoning.effort", "output_config.effort"],
  ["instructions", "system"],
  ["safety_identifier", "metadata.user_id"],
];

/**
 * The same words, with the names of messages. A message names its member by itself, because the body has no place for
 * it. Clients know requests that are too long by these words.
 */
function messageOfError({ code, message, param }: ApiError): string {
  const renamed = MEMBERS.reduce((text, [from, to]) => text.replaceAll(`'${from}`, `'${to}`), message);
  if (code === "context_length_exceeded") return `prompt is too long: ${renamed}`;
  return param === null || message.includes(`'${param}`) ? renamed : `${messagesPath(param)}: ${renamed}`;
}

/** The path of a member, as clients of messages write it. An item has no exact place among the messages. */
function messagesPath(param: string): string {
  if (/^input\b/.test(param)) return "messages";
  const [from = "", to = ""] = MEMBERS.find(([member]) => param === member || param.startsWith(`${member}.`)) ?? [];
  return (to + param.slice(from.length)).replaceAll(/\[(\d+)\]/g, ".$1");
}

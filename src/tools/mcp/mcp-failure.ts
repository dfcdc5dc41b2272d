import type { McpCallError } from "@antiphon/contracts/responses-api/types.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { EgressError } from "@antiphon/egress/egress-error.ts";
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from "@modelcontextprotocol/client";
import { AuthorizationWanted } from "./authorization/authorization-wanted.ts";
import type { ServerSecrets } from "./authorization/server-secrets.ts";
import { errorLineOf } from "./programs/last-words.ts";

/** Why a server gave no list or no result. `message` is for the client and the model, without address. */
export type McpFailure = Extract<McpCallError, { type: "http_error" | "mcp_protocol_error" }>;

/** The server did not reply within the time limit. */
export class McpTimeout extends Error {
  override readonly name = "McpTimeout";
}

/** Aborts with `McpTimeout`. */
export function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new McpTimeout(`no answer in ${ms} ms`)), ms);
  timer.unref();
  return controller.signal;
}

/** The program of the server exited unexpectedly. */
export class ProgramEnded extends Error {
  override readonly name = "ProgramEnded";
  /** The end of its stderr. */
  readonly lastWords: string;

  constructor(lastWords: string) {
    super("the program ended");
    this.lastWords = lastWords;
  }
}

/** The program of the server did not reply within the time limit. */
export class ProgramSilent extends Error {
  override readonly name = "ProgramSilent";
  /** The end of its stderr. */
  readonly lastWords: string;

  constructor(lastWords: string, cause: unknown) {
    super("the program did not reply in time", { cause });
    this.lastWords = lastWords;
  }
}

/** Opening a connection or a request failed. The cause says why. */
export class McpFault extends Error {
  override readonly name = "McpFault";
  /** The last error status of the server for a request of this kind; null if there was none. */
  readonly status: number | null;
  /** Whether the server has forgotten the session, and therefore did nothing. */
  readonly isForgotten: boolean;
  readonly delivery: Delivery;

  constructor(
    cause: unknown,
    { status, isForgotten, delivery }: Pick<McpFault, "status" | "isForgotten" | "delivery">,
  ) {
    super("a request to an MCP server failed", { cause });
    this.status = status;
    this.isForgotten = isForgotten;
    this.delivery = delivery;
  }
}

/** How far a call's message got. `refused`: the server replied with a status that means it did nothing. */
export type Delivery = "unsent" | "sent" | "refused";

/** How far a call got whose reply has this status. */
export function deliveryAt(status: number): Delivery {
  return status >= 400 && status < 500 ? "refused" : "sent";
}

/** The server sent an unacceptable list. `message` is a whole sentence. */
export class McpListRefused extends Error {
  override readonly name = "McpListRefused";
}

const QUOTE_CHARACTERS_MAX = 200;
const CAUSES_MAX = 8;
const FORBIDDEN = 403;
const FAILED_DEPENDENCY = 424;
const GATEWAY_TIMEOUT = 504;
const INVALID_RESULT = -32_603;
const INPUT_REQUIRED = -32_600;

const STATUS_WORDS: ReadonlyMap<number, string> = new Map([
  [400, "Bad Request"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "Not Found"],
  [405, "Method Not Allowed"],
  [406, "Not Acceptable"],
  [408, "Request Timeout"],
  [413, "Content Too Large"],
  [415, "Unsupported Media Type"],
  [422, "Unprocessable Content"],
  [424, "Failed Dependency"],
  [429, "Too Many Requests"],
  [500, "Internal Server Error"],
  [502, "Bad Gateway"],
  [503, "Service Unavailable"],
  [504, "Gateway Timeout"],
]);

/** The meanings of the MCP client's codes. Missing codes say less than their causes. */
const SDK_FAILURES: ReadonlyMap<SdkErrorCode, McpFailure> = new Map([
  [SdkErrorCode.RequestTimeout, http(GATEWAY_TIMEOUT, "The MCP server did not answer in time")],
  [SdkErrorCode.InvalidResult, protocol(INVALID_RESULT, "The MCP server sent a result that breaks the protocol")],
  [
    SdkErrorCode.UnsupportedResultType,
    protocol(
      INPUT_REQUIRED,
      "The MCP server asked for input during the call, which cannot be given here: all that the tool needs must be in its arguments",
    ),
  ],
  [
    SdkErrorCode.ClientHttpUnexpectedContent,
    http(FAILED_DEPENDENCY, "The MCP server answered with content of a wrong type"),
  ],
]);

/** Explains an error of the MCP client, the guard, or a time limit. Redacts `secrets` in the server's texts. */
export function explainMcpFailure(error: unknown, secrets: ServerSecrets): McpFailure {
  const causes = causesOf(error);
  for (const cause of causes) {
    const failure = explainOne(cause, secrets);
    if (failure !== null) return failure;
  }
  const status = causes.flatMap((cause) => (cause instanceof McpFault ? (cause.status ?? []) : []))[0];
  if (status !== undefined) return http(status, statusText(status));
  return http(FAILED_DEPENDENCY, "The connection to the MCP server failed");
}

/** Whether the server may have executed the failed call. */
export function mayHaveActed(error: unknown): boolean {
  const causes = causesOf(error);
  if (!causes.some((cause) => cause instanceof McpFault && cause.delivery === "sent")) return false;
  // The server or its tool says that it did not execute the call.
  return !causes.some(
    (cause) => cause instanceof ProtocolError || cause instanceof AuthorizationWanted || isInputWanted(cause),
  );
}

function isInputWanted(cause: unknown): boolean {
  return cause instanceof SdkError && cause.code === SdkErrorCode.UnsupportedResultType;
}

/** The HTTP status of the server's refusal; null if there was none. */
export function refusedStatus(error: unknown): number | null {
  for (const cause of causesOf(error)) if (cause instanceof SdkHttpError) return cause.status;
  return null;
}

/** The error of a response that cannot be made without this server's list. */
export function listFailed(label: string, failure: McpFailure, cause: unknown): ModelError {
  return new ModelError(`Error retrieving tool list from MCP server: '${label}'. ${sentenceOf(failure)}`, {
    status: FAILED_DEPENDENCY,
    type: "external_connector_error",
    code: "http_error",
    param: "tools",
    cause,
  });
}

/** Quotes the text of another server: one line, without addresses. */
function shortQuote(text: string): string {
  const line = text
    .slice(0, 4 * QUOTE_CHARACTERS_MAX)
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .replaceAll(/\b[a-z][a-z\d+.-]*:\/\/\S+/gi, "[address]")
    .replaceAll(/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, "[address]")
    .trim();
  return line.length > QUOTE_CHARACTERS_MAX ? `${line.slice(0, QUOTE_CHARACTERS_MAX).toWellFormed()}…` : line;
}

function explainOne(error: unknown, secrets: ServerSecrets): McpFailure | null {
  if (error instanceof McpTimeout) return http(GATEWAY_TIMEOUT, "The MCP server did not answer in time");
  if (error instanceof ProgramEnded)
    return http(FAILED_DEPENDENCY, withWords("The program of the MCP server ended", error, secrets));
  if (error instanceof ProgramSilent)
    return http(GATEWAY_TIMEOUT, withWords("The program of the MCP server did not answer in time", error, secrets));
  if (error instanceof McpListRefused) return protocol(INVALID_RESULT, error.message);
  if (error instanceof AuthorizationWanted)
    return http(error.status, `${statusText(error.status)}. ${secrets.redact(error.message)}`);
  if (error instanceof EgressError) return http(egressStatus(error), error.message);
  if (error instanceof ProtocolError)
    return protocol(error.code, shortQuote(secrets.redact(error.message)) || "The MCP server refused");
  if (error instanceof SdkHttpError) return http(error.status, statusText(error.status));
  if (error instanceof SseError && error.code !== undefined) return http(error.code, statusText(error.code));
  if (error instanceof Error && error.name === "InsufficientScopeError") return http(FORBIDDEN, statusText(FORBIDDEN));
  return error instanceof SdkError ? (SDK_FAILURES.get(error.code) ?? null) : null;
}

function withWords(sentence: string, { lastWords }: ProgramEnded | ProgramSilent, secrets: ServerSecrets): string {
  const words = shortQuote(errorLineOf(secrets.redact(lastWords)));
  return words === "" ? sentence : `${sentence} and said: ${words}`;
}

function egressStatus({ reason }: EgressError): number {
  if (reason === "timeout") return GATEWAY_TIMEOUT;
  const isRefused = reason === "forbidden" || reason === "redirected" || reason === "switched_off";
  return isRefused ? FORBIDDEN : FAILED_DEPENDENCY;
}

/** All that the reference says of an error status. */
const STATUS_ONLY = /^Http status code: \d+(?: \([\w ]+\))?$/;

/** The reference's text for an error status of the server. */
function statusText(status: number): string {
  const words = STATUS_WORDS.get(status);
  return `Http status code: ${status}${words === undefined ? "" : ` (${words})`}`;
}

function sentenceOf({ message }: McpFailure): string {
  return message.endsWith(".") || STATUS_ONLY.test(message) ? message : `${message}.`;
}

function http(code: number, message: string): McpFailure {
  return { type: "http_error", code, message };
}

function protocol(code: number, message: string): McpFailure {
  return { type: "mcp_protocol_error", code, message };
}

/** The first of an error and its causes that is of this class; null if none is. */
export function causeOfType<E>(error: unknown, type: abstract new (...args: never) => E): E | null {
  for (const cause of causesOf(error)) if (cause instanceof type) return cause;
  return null;
}

function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  let next = error;
  while (next !== undefined && next !== null && causes.length < CAUSES_MAX) {
    causes.push(next);
    next = next instanceof Error ? next.cause : undefined;
  }
  return causes;
}

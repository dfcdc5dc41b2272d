import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { isList, type JsonObject, textOrNull } from "../json-values.ts";
import { InputTooLong, modelNotFound, noSuchPath } from "./model-errors.ts";
import { type ModelServerSecrets, redact } from "./redact.ts";
import { readRetryAfter } from "./retry-after.ts";
import { readTooLong, type TooLong } from "./too-long.ts";

/** The parts of an error that all servers report in some form. */
interface ReportedError {
  /** The text for pattern matching. If the body is not JSON, the whole body. */
  readonly message: string;
  /** Whether `message` may be shown. Raw bodies are not. */
  readonly isReadable: boolean;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
  /** The token numbers, if it is about a long input. */
  readonly tooLong: TooLong;
}

const FAULT = { type: "server_error", code: "server_error" } as const;

export interface Refusal {
  /** Null for an error inside a stream without a status. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The text of the reply, or the error object from a stream. */
  readonly body: string | JsonObject;
}

/** The model named in errors, and the secrets to redact. */
export interface ErrorContext extends ModelServerSecrets {
  readonly model: string;
  /** The API that is asked, in words. Left out: chat completions. */
  readonly api?: string;
}

/** Only the beginning of a longer text is searched. */
const READ_CHARS_MAX = 4000;

const TOO_LONG =
  /context[ _-]?(?:length|size|window)|exceed_context|maximum (?:context|prompt|model|input|sequence) (?:length|size)|(?:prompt|input|messages?) (?:is|are) too long|too many (?:input )?tokens|input tokens exceed|exceeds? (?:the )?(?:maximum|max|limit of).{0,40}tokens|input length.{0,60}exceed/i;
const NO_SUCH_MODEL =
  /model.{0,200}(?:not found|does not exist|not exist|no such|unknown|not available|isn't available|not loaded)|(?:no such|unknown|unrecognized|invalid) model|not a valid model/is;
/** Servers' texts, with 404 or 405, for a path that does not exist. */
const NO_SUCH_PATH =
  /^(?:the )?(?:requested )?(?:file|page|resource|route|endpoint|path|url)?\s*not found\.?$|invalid url|unknown request url|method not allowed|no route|\/chat\/completions|\/responses\b/i;
/** Servers' texts, with 500, for an invalid request: Python validators, chat templates, grammars. */
const BLAMES_REQUEST =
  /\bvalidation errors?\b|'loc': \(|"loc": ?\[|\bliteral_error\b|invalid_request_error|bad_?request_?error|jinja exception|raise_exception|roles must alternate|(?:failed|unable) to (?:parse|initialize) (?:the )?(?:grammar|json.?schema|samplers)/i;
/** The location of the fault in a Python validator's text. */
const FAULT_PLACE = /'loc': \('body', '(\w+)'(?:, '(\w+)')?/;
/** LM Studio's text for it, with status 200. */
const UNEXPECTED_PATH = /unexpected endpoint/i;
const OVERLOADED: ReadonlySet<string> = new Set(["server_is_overloaded", "overloaded_error", "engine_overloaded"]);
const OUT_OF_CREDIT =
  /insufficient_quota|insufficient (?:quota|balance|credits?)|exceeded your current quota|check your plan and billing/i;

/** Translates a refusal, or an error in a stream, into the reference's errors. */
export function explainRefusal(refusal: Refusal, context: ErrorContext, nowMs: number): ModelError {
  const report = readReported(refusal.body);
  const quote = report.isReadable ? redact(report.message, context) : "";
  const { status } = refusal;
  if (report.code === "model_not_found") return modelNotFound(context.model); // Some servers send it with 403.
  if (isAboutPath(refusal, report, quote)) return noSuchPath(context.api ?? "chat completions");
  if (status !== null && status >= 500 && blamesRequest(report)) return refusedRequest(status, report, quote, context);
  if (status === null || status >= 500) return serverError(refusal, report, quote, nowMs);
  if (status === 401 || status === 403) return refusedKey(status, quote, context);
  if (status === 429 || status === 402) return rateLimited(refusal, report, quote, nowMs);
  if (status === 408)
    return new ModelError(`The model server timed out. ${quote}`.trim(), {
      ...FAULT,
      status: 504,
      quoted: quote,
      retry: "often",
    });
  if (status < 400)
    return new ModelError(`The model server answered with status ${status} in place of a turn.`, {
      ...FAULT,
      status: 502,
    });
  return refusedRequest(status, report, quote, context);
}

/** Whether a failing server blames the request. */
function blamesRequest({ message, code, type }: ReportedError): boolean {
  return BLAMES_REQUEST.test(`${code} ${type} ${message}`) && !TOO_LONG.test(message);
}

/** Whether a refusal is about the path of the call, not about its content. */
function isAboutPath({ status }: Refusal, { message }: ReportedError, quote: string): boolean {
  if (NO_SUCH_MODEL.test(message)) return false;
  if (status === null) return UNEXPECTED_PATH.test(message);
  return (status === 404 || status === 405) && (quote === "" || NO_SUCH_PATH.test(message));
}

/** Replies 502 instead of 401 or 403, which clients would take as a refusal of their own key. */
function refusedKey(status: 401 | 403, quote: string, { apiKey, keySetting }: ErrorContext): ModelError {
  const fields = { type: "server_error", code: "model_authentication_failed", status: 502 } as const;
  if (status === 403)
    return new ModelError(
      withDetail("The model server does not permit this server to do that; your API key is not the cause", quote),
      { ...fields, quoted: quote },
    );
  const why =
    apiKey === null
      ? "The model server asks for a key, and this server has none for it"
      : "The model server refused the key that this server has for it";
  return new ModelError(`${why} (${keySetting}); your API key is not the cause.`, fields);
}

function rateLimited(refusal: Refusal, report: ReportedError, quote: string, nowMs: number): ModelError {
  const isCredit = refusal.status === 402 || OUT_OF_CREDIT.test(`${report.code} ${report.type} ${report.message}`);
  const retryAfterSeconds = readRetryAfter(refusal.headers, report.message, nowMs);
  if (isCredit) {
    const message = quote === "" ? "The quota at the model server is used up." : quote;
    return new ModelError(message, {
      status: 429,
      type: "insufficient_quota",
      code: "insufficient_quota",
      retryAfterSeconds,
      quoted: quote,
    });
  }
  const isBucket = report.type === "tokens" || report.type === "requests";
  return new ModelError(quote === "" ? "The model server is rate limited." : quote, {
    status: 429,
    type: isBucket && report.type !== null ? report.type : "rate_limit_error",
    code: "rate_limit_exceeded",
    retryAfterSeconds,
    quoted: quote,
    retry: "often",
  });
}

function serverError({ status, headers }: Refusal, report: ReportedError, quote: string, nowMs: number): ModelError {
  // Several local servers report this with status 500.
  if (TOO_LONG.test(report.message)) return new InputTooLong(report.tooLong);
  const isOdd = status !== null && status > 511; // Vendor statuses such as 529 mean overload.
  const what = status === null ? "gave up its answer" : `failed with status ${status}`;
  return new ModelError(withDetail(`The model server ${what}`, quote), {
    ...FAULT,
    code: OVERLOADED.has(report.code ?? report.type ?? "") ? "server_is_overloaded" : FAULT.code,
    status: isOdd ? 503 : statusOfFailure(status ?? 500),
    retryAfterSeconds: readRetryAfter(headers, "", nowMs),
    quoted: quote,
    retry: status !== null && LASTING.has(status) ? "never" : "often",
  });
}

/** Statuses that a retry cannot fix. */
const LASTING: ReadonlySet<number> = new Set([501, 505, 510]);

/** Statuses such as 501 and 505 concern our request to the model server, so clients get 502. */
function statusOfFailure(status: number): number {
  return [500, 503, 504].includes(status) ? status : 502;
}

/** Statuses of refusals that clients get unchanged; all others become 400. */
const PASSED_ON: ReadonlySet<number> = new Set([404, 413]);

function refusedRequest(status: number, report: ReportedError, quote: string, context: ErrorContext): ModelError {
  if (
    report.code === "context_length_exceeded" ||
    report.type === "exceed_context_size_error" ||
    TOO_LONG.test(report.message)
  )
    return new InputTooLong(report.tooLong);
  if (NO_SUCH_MODEL.test(report.message)) return modelNotFound(context.model);
  const param = report.param ?? faultPath(report.message);
  return new ModelError(quote === "" ? `The model server refused the request with status ${status}.` : quote, {
    status: PASSED_ON.has(status) ? status : 400,
    type: "invalid_request_error",
    code: report.code,
    param: param === null ? null : requestPathOf(param),
    quoted: quote,
    retry: status === CONFLICT ? "once" : "never",
  });
}

/** A conflict with another request may pass, and another server may not have it. */
const CONFLICT = 409;

/** The path in the request that a validator names; null if there is none. */
function faultPath(message: string): string | null {
  const [, member, inner] = FAULT_PLACE.exec(message) ?? [];
  if (member === undefined) return null;
  return inner === undefined ? member : `${member}.${inner}`;
}

function withDetail(sentence: string, detail: string): string {
  return detail === "" ? `${sentence}.` : `${sentence}: ${detail}`;
}

function readReported(body: string | JsonObject): ReportedError {
  const json = typeof body === "string" ? jsonOrUndefined(body) : body;
  const first = isList(json) ? json[0] : json; // Some gateways wrap the error in an array.
  const raw = typeof body === "string" ? body.slice(0, READ_CHARS_MAX) : "";
  if (!isRecord(first))
    return {
      message: raw,
      tooLong: readTooLong(raw, {}),
      isReadable: false,
      code: null,
      type: null,
      param: null,
    };
  const error = isRecord(first["error"]) ? first["error"] : first;
  const message = reportedMessage(error, first).slice(0, READ_CHARS_MAX);
  return {
    message,
    tooLong: readTooLong(message, error),
    isReadable: true,
    code: wordOrNull(error["code"]),
    type: wordOrNull(error["type"]),
    param: textOrNull(error["param"]),
  };
}

function reportedMessage(error: JsonObject, whole: JsonObject): string {
  const candidates = [
    error["message"],
    whole["error"],
    whole["message"],
    detailOf(error["detail"] ?? whole["detail"]),
    error["title"],
  ];
  const message = candidates.map(textOrNull).find((text) => text !== null) ?? "";
  const metadata = error["metadata"];
  // OpenRouter puts the provider's own message here.
  const raw = isRecord(metadata) ? textOrNull(metadata["raw"]) : null;
  return raw === null ? message : `${message}: ${raw}`;
}

/** FastAPI reports an invalid request as a text, or as a list of objects with a text each. */
function detailOf(detail: unknown): unknown {
  if (!isList(detail)) return detail;
  return detail.map((entry) => (isRecord(entry) ? (textOrNull(entry["msg"]) ?? "") : "")).join("; ");
}

/** The code or type if it is a word. Some servers repeat the HTTP status there. */
function wordOrNull(value: unknown): string | null {
  const text = textOrNull(value);
  return text === null || /^\d+$/.test(text) ? null : text;
}

const FIELDS: ReadonlyMap<string, string> = new Map([
  ["messages", "input"],
  ["input", "input"],
  ["max_tokens", "max_output_tokens"],
  ["max_completion_tokens", "max_output_tokens"],
  ["input_tokens", "input"],
  ["reasoning_effort", "reasoning.effort"],
  ["verbosity", "text.verbosity"],
  ["logprobs", "top_logprobs"],
]);

/**
 * Translates a path in the model server's request into one in ours. Indexes of its messages or items are dropped,
 * because they differ from those of our items.
 */
function requestPathOf(chatPath: string): string {
  const field = /^[A-Za-z_]+/.exec(chatPath)?.[0] ?? chatPath;
  if (field === "response_format") return chatPath.replace(/^response_format(?:\.json_schema)?/, "text.format");
  if (field === "tools") return chatPath.replace(".function.", ".");
  return FIELDS.get(field) ?? chatPath;
}

import { jsonOrUndefined } from "../../../base/json/read-json.ts";
import { isRecord } from "../../../base/json/records.ts";
import { ModelError } from "../../../runs/ports.ts";
import { isList, type JsonObject, textOrNull } from "../json-values.ts";
import { inputTooLong, modelNotFound } from "./model-errors.ts";
import { type Hidden, redact } from "./redact.ts";
import { readRetryAfter } from "./retry-after.ts";

/** The parts of a server's error that survive all dialects. */
interface ReportedError {
  /** What can be matched against; of a body that is no JSON, the whole of it. */
  readonly message: string;
  /** Whether `message` was written to be read; raw bodies are never shown. */
  readonly isReadable: boolean;
  readonly code: string | null;
  readonly type: string | null;
  readonly param: string | null;
}

const FAULT = { type: "server_error", code: "server_error" } as const;

export interface Refusal {
  /** Null: an error inside a stream that tells none. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The reply's text, or the error object found in a stream. */
  readonly body: string | JsonObject;
}

/** What error texts may mention, which is the model asked for, and what they must not. */
export interface ErrorContext extends Hidden {
  readonly model: string;
}

/** Of a longer text the rest is not searched: its meaning is at its beginning. */
const READ_CHARS_MAX = 4000;

const TOO_LONG =
  /context[ _-]?(?:length|size|window)|exceed_context|maximum (?:context|prompt|model|input|sequence) (?:length|size)|(?:prompt|input|messages?) (?:is|are) too long|too many (?:input )?tokens|input tokens exceed|exceeds? (?:the )?(?:maximum|max|limit of).{0,40}tokens|input length.{0,60}exceed/i;
const NO_SUCH_MODEL =
  /model.{0,200}(?:not found|does not exist|not exist|no such|unknown|not available|isn't available|not loaded)|(?:no such|unknown|unrecognized|invalid) model|not a valid model/is;
const OVERLOADED: ReadonlySet<string> = new Set(["server_is_overloaded", "overloaded_error", "engine_overloaded"]);
const OUT_OF_CREDIT =
  /insufficient_quota|insufficient (?:quota|balance|credits?)|exceeded your current quota|check your plan and billing/i;

/** Says in the reference's words why a model server refused a turn or gave it up. */
export function explainRefusal(refusal: Refusal, context: ErrorContext, nowMs: number): ModelError {
  const reported = readReported(refusal.body);
  const shown = reported.isReadable ? redact(reported.message, context) : "";
  const { status } = refusal;
  if (reported.code === "model_not_found") return modelNotFound(context.model); // Some say so with 403.
  if (status === null || status >= 500) return failed(refusal, reported, shown, nowMs);
  if (status === 401 || status === 403) return refusedKey(status, shown, context);
  if (status === 429 || status === 402) return rateLimited(refusal, reported, shown, nowMs);
  if (status === 408)
    return new ModelError(`The model server timed out. ${shown}`.trim(), { ...FAULT, status: 504, quoted: shown });
  if (status < 400)
    return new ModelError(`The model server answered with status ${status} in place of a turn.`, {
      ...FAULT,
      status: 502,
    });
  return refusedRequest(status, reported, shown, context);
}

/** 502 and not the status of the model server: clients take 401 and 403 for a fault of their own key. */
function refusedKey(status: 401 | 403, shown: string, { apiKey }: ErrorContext): ModelError {
  const fields = { type: "server_error", code: "model_authentication_failed", status: 502 } as const;
  if (status === 403)
    return new ModelError(
      withDetail("The model server does not permit this server to do that; your API key is not the cause", shown),
      { ...fields, quoted: shown },
    );
  const why =
    apiKey === null
      ? "The model server asks for a key, and this server has none for it"
      : "The model server refused the key that this server has for it";
  return new ModelError(`${why} (MODEL_API_KEY); your API key is not the cause.`, fields);
}

function rateLimited(refusal: Refusal, reported: ReportedError, shown: string, nowMs: number): ModelError {
  const isCredit =
    refusal.status === 402 || OUT_OF_CREDIT.test(`${reported.code} ${reported.type} ${reported.message}`);
  const retryAfterSeconds = readRetryAfter(refusal.headers, reported.message, nowMs);
  if (isCredit) {
    const message = shown === "" ? "The quota at the model server is used up." : shown;
    return new ModelError(message, {
      status: 429,
      type: "insufficient_quota",
      code: "insufficient_quota",
      retryAfterSeconds,
      quoted: shown,
    });
  }
  const isBucket = reported.type === "tokens" || reported.type === "requests";
  return new ModelError(shown === "" ? "The model server is rate limited." : shown, {
    status: 429,
    type: isBucket && reported.type !== null ? reported.type : "rate_limit_error",
    code: "rate_limit_exceeded",
    retryAfterSeconds,
    quoted: shown,
  });
}

function failed({ status, headers }: Refusal, reported: ReportedError, shown: string, nowMs: number): ModelError {
  if (TOO_LONG.test(reported.message)) return inputTooLong(); // Several local servers report this as their own fault.
  const isOdd = status !== null && status > 511; // Statuses of single vendors, such as 529, mean overload.
  const what = status === null ? "gave up its answer" : `failed with status ${status}`;
  return new ModelError(withDetail(`The model server ${what}`, shown), {
    ...FAULT,
    code: OVERLOADED.has(reported.code ?? reported.type ?? "") ? "server_is_overloaded" : FAULT.code,
    status: isOdd ? 503 : statusOfFailure(status ?? 500),
    retryAfterSeconds: readRetryAfter(headers, "", nowMs),
    quoted: shown,
  });
}

/** What a model server lacks or misreads, such as 501 and 505, is between it and us. */
function statusOfFailure(status: number): number {
  return [500, 503, 504].includes(status) ? status : 502;
}

/** Refusals that clients are told with the status of the model server; every other one is a bad request to them. */
const PASSED_ON: ReadonlySet<number> = new Set([404, 413]);

function refusedRequest(status: number, reported: ReportedError, shown: string, context: ErrorContext): ModelError {
  if (
    reported.code === "context_length_exceeded" ||
    reported.type === "exceed_context_size_error" ||
    TOO_LONG.test(reported.message)
  )
    return inputTooLong();
  if (NO_SUCH_MODEL.test(reported.message)) return modelNotFound(context.model);
  if (status === 404 && (shown === "" || /^not found$/i.test(shown))) {
    return new ModelError("The model server has no chat completions under the configured base URL.", {
      ...FAULT,
      status: 502,
    });
  }
  return new ModelError(shown === "" ? `The model server refused the request with status ${status}.` : shown, {
    status: PASSED_ON.has(status) ? status : 400,
    type: "invalid_request_error",
    code: reported.code,
    param: reported.param === null ? null : requestPathOf(reported.param),
    quoted: shown,
  });
}

function withDetail(sentence: string, detail: string): string {
  return detail === "" ? `${sentence}.` : `${sentence}: ${detail}`;
}

function readReported(body: string | JsonObject): ReportedError {
  const parsed = typeof body === "string" ? jsonOrUndefined(body) : body;
  const first = isList(parsed) ? parsed[0] : parsed; // Some gateways wrap the error in a list.
  if (!isRecord(first))
    return {
      message: typeof body === "string" ? body.slice(0, READ_CHARS_MAX) : "",
      isReadable: false,
      code: null,
      type: null,
      param: null,
    };
  const error = isRecord(first["error"]) ? first["error"] : first;
  return {
    message: messageOf(error, first).slice(0, READ_CHARS_MAX),
    isReadable: true,
    code: wordOrNull(error["code"]),
    type: wordOrNull(error["type"]),
    param: textOrNull(error["param"]),
  };
}

function messageOf(error: JsonObject, whole: JsonObject): string {
  const candidates = [
    error["message"],
    whole["error"],
    whole["message"],
    detailOf(error["detail"] ?? whole["detail"]),
    error["title"],
  ];
  const message = candidates.map(textOrNull).find((text) => text !== null) ?? "";
  const metadata = error["metadata"];
  // OpenRouter keeps the provider's own words there.
  const raw = isRecord(metadata) ? textOrNull(metadata["raw"]) : null;
  return raw === null ? message : `${message}: ${raw}`;
}

/** FastAPI reports faults of a request as a text, or as a list with a text in each. */
function detailOf(detail: unknown): unknown {
  if (!isList(detail)) return detail;
  return detail.map((entry) => (isRecord(entry) ? (textOrNull(entry["msg"]) ?? "") : "")).join("; ");
}

/** Codes are words at the reference; servers that repeat the HTTP status there say nothing. */
function wordOrNull(value: unknown): string | null {
  const text = textOrNull(value);
  return text === null || /^\d+$/.test(text) ? null : text;
}

const FIELDS: ReadonlyMap<string, string> = new Map([
  ["messages", "input"],
  ["max_tokens", "max_output_tokens"],
  ["max_completion_tokens", "max_output_tokens"],
  ["input_tokens", "input"],
  ["reasoning_effort", "reasoning.effort"],
  ["verbosity", "text.verbosity"],
  ["logprobs", "top_logprobs"],
]);

/**
 * The member of our request behind a path into the chat-completions request. Positions of messages are lost: items and
 * messages differ.
 */
function requestPathOf(chatPath: string): string {
  const field = /^[A-Za-z_]+/.exec(chatPath)?.[0] ?? chatPath;
  if (field === "response_format") return chatPath.replace(/^response_format(?:\.json_schema)?/, "text.format");
  if (field === "tools") return chatPath.replace(".function.", ".");
  return FIELDS.get(field) ?? chatPath;
}

import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelError } from "@antiphon/domain/models/model-error.ts";
import { modelNotFound } from "../../model-server/errors/model-errors.ts";
import { readStreamErrorStatus } from "../../model-server/errors/stream-error-status.ts";
import { type ErrorContext, explainRefusal, type Refusal } from "../../model-server/errors/upstream-error.ts";
import { type JsonObject, textOrNull } from "../../model-server/json-values.ts";

/** The status of a refusal for lack of credit, which this API sends with 400. */
const NO_CREDIT_STATUS = 402;
const NO_CREDIT = /credit balance is too low/i;
/** How the message of a refusal names an unknown model. */
const MODEL_NAMED = /^model:/;

/** The member of our request for the one that a refusal's message begins with. */
const PARAMS: readonly (readonly [beginning: RegExp, param: string])[] = [
  [/^messages\b/, "input"],
  [/^system\b/, "instructions"],
  [/^max_tokens\b/, "max_output_tokens"],
  [/^tools\b/, "tools"],
  [/^tool_choice\b/, "tool_choice"],
  [/^output_config\.format\b/, "text.format"],
  [/^(?:thinking|output_config)\b/, "reasoning.effort"],
  [/^temperature\b/, "temperature"],
  [/^top_p\b/, "top_p"],
  [/^metadata\b/, "safety_identifier"],
];

/** Translates a refusal of this API into the reference's errors. */
export function explainMessagesRefusal(refusal: Refusal, context: ErrorContext, nowMs: number): ModelError {
  const body = typeof refusal.body === "string" ? jsonOrUndefined(refusal.body) : refusal.body;
  if (!isRecord(body) || !isRecord(body["error"])) return explainRefusal(refusal, context, nowMs);
  const fault = body["error"];
  const message = textOrNull(fault["message"]) ?? "";
  if (fault["type"] === "not_found_error" && (MODEL_NAMED.test(message) || message.includes(context.model)))
    return modelNotFound(context.model);
  const param = PARAMS.find(([beginning]) => beginning.test(message))?.[1];
  const status = NO_CREDIT.test(message) ? NO_CREDIT_STATUS : refusal.status;
  const named = { ...body, error: { ...fault, ...(param === undefined ? {} : { param }) } };
  return explainRefusal({ ...refusal, status, body: named }, context, nowMs);
}

/** Translates an error within a stream. */
export function explainMessagesFault(fault: JsonObject, context: ErrorContext): ModelError {
  const status = readStreamErrorStatus(isRecord(fault["error"]) ? fault["error"] : fault);
  return explainMessagesRefusal({ status, headers: {}, body: fault }, context, 0);
}

import { ApiError } from "@antiphon/base/api-error.ts";
import { newId } from "@antiphon/base/ids.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { SchemaRefusal } from "@antiphon/base/json/schema-refusal.ts";
import type { RealtimeErrorEvent } from "@antiphon/contracts/audio/types.ts";

const INVALID = "invalid_request_error";
const QUOTED_CHARACTERS_MAX = 64;

function badEvent(code: string, param: string | null, message: string): ApiError {
  return new ApiError({ status: 400, type: INVALID, code, param, message });
}

export function eventNotObject(): ApiError {
  return badEvent("invalid_type", null, "Invalid type: expected an event, which is a JSON object.");
}

export function eventTypeMissing(): ApiError {
  return badEvent("missing_required_parameter", "type", "Missing required parameter: 'type'.");
}

export function eventNotKnown(type: string, types: readonly string[]): ApiError {
  const list = types.map((one) => `'${one}'`).join(", ");
  return badEvent("invalid_value", "type", `Invalid value: '${shortText(type)}'. Supported values are: ${list}.`);
}

/** For an event of sessions with a model that answers, and of the dialect before the general one. */
export function eventNotOffered(type: string, isOlder: boolean): ApiError {
  const reason = isOlder
    ? "this server speaks the general form of the interface, in which it is session.update"
    : "a transcription session has no responses, and its items come from its sound";
  return badEvent("unsupported_value", "type", `Unsupported value: '${type}' is not possible here, because ${reason}.`);
}

export function audioNotBase64(): ApiError {
  return badEvent("invalid_value", "audio", "Invalid 'audio': it is not base64.");
}

export function commitOfNothing(bufferedMs: number, msMin: number): ApiError {
  const message = `Error committing input audio buffer: buffer too small. Expected at least ${msMin}ms of audio, but buffer only has ${bufferedMs.toFixed(2)}ms of audio.`;
  return badEvent("input_audio_buffer_commit_empty", null, message);
}

export function bufferFull(minutesMax: number): ApiError {
  const message = `The input audio buffer holds ${minutesMax} minutes of audio. Commit or clear it first.`;
  return badEvent("input_audio_buffer_full", "audio", message);
}

export function intentMissing(): ApiError {
  const message =
    "Missing required parameter: 'intent'. This server offers '/v1/realtime?intent=transcription'. Sessions with a model that answers are not offered.";
  return badEvent("missing_required_parameter", "intent", message);
}

export function intentNotOffered(param: string, value: string): ApiError {
  const message = `Unsupported value: '${shortText(value)}'. This server offers '/v1/realtime?intent=transcription' alone.`;
  return badEvent("unsupported_value", param, message);
}

export function secretNotValid(): ApiError {
  const message = "The client secret is not from this server, was changed, or has expired.";
  return new ApiError({ status: 401, type: INVALID, code: "invalid_api_key", message });
}

export function settingsTooLarge(bytesMax: number, bytes: number): ApiError {
  const message = `Invalid 'session': string too long. Expected settings with maximum length ${bytesMax} as JSON, but got settings with length ${bytes} instead.`;
  return badEvent("string_above_max_length", "session", message);
}

export function sessionExpired(minutes: number): ApiError {
  const message = `Your session hit the maximum duration of ${minutes} minutes.`;
  return new ApiError({ status: 408, type: INVALID, code: "session_expired", message });
}

export function sessionIdle(ms: number): ApiError {
  const message = `No event came for ${Math.round(ms / 1000)} s.`;
  return new ApiError({ status: 408, type: INVALID, code: "idle_timeout", message });
}

export function eventsUnread(): ApiError {
  return new ApiError({ status: 408, type: INVALID, code: "client_too_slow", message: "The events were not read." });
}

export function tooManySessions(sessionsMax: number, setting: string): ApiError {
  const message = `There are ${sessionsMax} live sessions already. ${setting} sets the limit.`;
  const type = "service_unavailable_error";
  return new ApiError({ status: 503, type, code: "too_many_streams", message, headers: { "Retry-After": "5" } });
}

/** The event that tells a client of an error. `eventId`: the client's name of the event that caused it. */
export function realtimeErrorEvent(error: ApiError, eventId: string | null): RealtimeErrorEvent {
  const type = error.status >= 500 ? "server_error" : INVALID;
  const { code, message, param } = error;
  return { event_id: newEventId(), type: "error", error: { type, code, message, param, event_id: eventId } };
}

export function newEventId(): string {
  return newId("event", Math.floor(Date.now() / 1000));
}

/** The error for the deepest of a validator's refusals. `root`: the path of the refused value; empty for a body. */
export function realtimeRefusal(refusals: readonly SchemaRefusal[], root: string): ApiError {
  const refusal = refusals.toSorted((a, b) => weightOf(b) - weightOf(a))[0];
  if (refusal === undefined) return badEvent("invalid_value", root === "" ? null : root, "Invalid value.");
  const param = memberPath(root, refusal.instancePath);
  const { params, data } = refusal;
  switch (refusal.keyword) {
    case "required":
      return missingMember(joinMember(param, String(params["missingProperty"])));
    case "discriminator":
      return tagRefusal(param, refusal);
    case "enum":
    case "const":
      return notListed(param, data, [params["allowedValues"] ?? params["allowedValue"]].flat().map(String));
    case "type":
    case "anyOf":
    case "oneOf":
      return ofOtherType(param, refusal);
    default:
      return outOfBounds(param, refusal);
  }
}

/** Deeper refusals say more; the branch for null of a union says nothing. */
function weightOf({ keyword, instancePath, params }: SchemaRefusal): number {
  const isUnion = keyword === "anyOf" || keyword === "oneOf" || params["type"] === "null";
  return instancePath.split("/").length * 2 + (isUnion ? 0 : 1);
}

function missingMember(param: string): ApiError {
  return badEvent("missing_required_parameter", param, `Missing required parameter: '${param}'.`);
}

function tagRefusal(param: string, { params, data, parentSchema }: SchemaRefusal): ApiError {
  const tag = String(params["tag"]);
  const value = params["tagValue"];
  if (!isRecord(data)) return badEvent("invalid_type", param, `Invalid type for '${param}': expected an object.`);
  if (value === undefined) return missingMember(joinMember(param, tag));
  return notListed(joinMember(param, tag), value, tagsOf(parentSchema));
}

function tagsOf(schema: unknown): string[] {
  const tags = isRecord(schema) ? schema["x-tags"] : null;
  return Array.isArray(tags) ? tags.map(String) : [];
}

function notListed(param: string, value: unknown, values: readonly string[]): ApiError {
  const list = values.map((one) => `'${one}'`).join(", ");
  const choices = list === "" ? "" : ` Supported values are: ${list}.`;
  return badEvent("invalid_value", param, `Invalid value: '${shortText(String(value))}'.${choices}`);
}

function ofOtherType(param: string, { params }: SchemaRefusal): ApiError {
  const typeWords = [params["type"] ?? "a value of another type"].flat().map(String).join(" or ");
  return badEvent("invalid_type", param, `Invalid type for '${param}': expected ${typeWords}.`);
}

const CODES: Readonly<Record<string, string>> = {
  maxLength: "string_above_max_length",
  minItems: "array_below_min_length",
  maxItems: "array_above_max_length",
  minimum: "below_min_value",
  maximum: "above_max_value",
};

function outOfBounds(param: string, { keyword, params, parentSchema }: SchemaRefusal): ApiError {
  const bound = CODES[keyword] ?? "invalid_value";
  const isInteger = isRecord(parentSchema) && [parentSchema["type"]].flat().includes("integer");
  const code =
    bound.endsWith("_value") && bound !== "invalid_value" ? `${isInteger ? "integer" : "decimal"}_${bound}` : bound;
  return badEvent(code, param, `Invalid '${param}': the limit (${keyword}) is ${String(params["limit"])}.`);
}

/** Turns `/audio/input` under `session` into `session.audio.input`. */
function memberPath(root: string, instancePath: string): string {
  return instancePath
    .split("/")
    .slice(1)
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : joinMember(path, step)), root);
}

function joinMember(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function shortText(text: string): string {
  return text.length <= QUOTED_CHARACTERS_MAX ? text : `${text.slice(0, QUOTED_CHARACTERS_MAX)}…`;
}

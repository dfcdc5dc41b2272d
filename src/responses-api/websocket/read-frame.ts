import type { CreateResponseRequest } from "../../../generated/responses-api/types.ts";
import { responseCreateFrameFields, validateResponseCancelFrame } from "../../../generated/responses-api/validators.js";
import { ApiError } from "../../base/api-error.ts";
import { isRecord } from "../../base/json/records.ts";
import { sizeOf } from "../../base/message-size.ts";
import { checkMembersOf } from "../checks/check-body.ts";
import { typeWords, validationError } from "../checks/validation-error.ts";
import { invalidType, invalidValue, missingParameter } from "../errors/parameter-errors.ts";
import { bodyNotAnObject } from "../errors/request-errors.ts";
import { backgroundOverWebSocket, invalidStreamId } from "../errors/websocket-errors.ts";

/** A frame of the client as far as it has to be known before its turn comes. */
export interface Frame {
  /** Null: it names none. */
  readonly lane: string | null;
  /** Of the message; 0 where nothing of it is kept. */
  readonly bytes: number;
  /** Null: it names none, or none that could be one. */
  readonly previousId: string | null;
  readonly content:
    | { readonly type: "create"; readonly asked: CreateFrame }
    /** Null: it names no response. */
    | { readonly type: "cancel"; readonly responseId: string | null }
    | { readonly type: "fault"; readonly fault: ApiError };
}

const CREATE = "response.create";
const CANCEL = "response.cancel";

/** Never throws: what is wrong with a frame is its content. */
export function readFrame(message: unknown): Frame {
  if (!isRecord(message)) return faultFrame(bodyNotAnObject(typeWords(message)));
  const { type, stream_id: streamId, previous_response_id: previousId } = message;
  const lane = streamId ?? null;
  if (lane !== null && !isLaneName(lane)) return faultFrame(invalidStreamId());
  const known = { lane, bytes: sizeOf(message), previousId: typeof previousId === "string" ? previousId : null };
  try {
    return { ...known, content: readContent(type, message) };
  } catch (error) {
    if (error instanceof ApiError) return { ...known, content: { type: "fault", fault: error } };
    throw error;
  }
}

function readContent(type: unknown, message: unknown): Frame["content"] {
  if (type === CREATE) return { type: "create", asked: readCreateFrame(message) };
  if (type !== CANCEL) throw unknownType(type);
  if (!validateResponseCancelFrame(message)) throw validationError(validateResponseCancelFrame.errors ?? [], "");
  return { type: "cancel", responseId: message.response_id ?? null };
}

export function faultFrame(fault: ApiError): Frame {
  return { lane: null, bytes: 0, previousId: null, content: { type: "fault", fault } };
}

function isLaneName(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z0-9_.-]{1,256}$/.test(value);
}

function unknownType(type: unknown): ApiError {
  if (type === undefined) return missingParameter("type");
  return typeof type === "string"
    ? invalidValue("type", type, [CREATE, CANCEL])
    : invalidType("type", "a string", typeWords(type));
}

/** What a frame asks for. */
export interface CreateFrame {
  readonly request: CreateResponseRequest;
  readonly generate: boolean;
}

/**
 * Checks a frame as the body of a create call is checked, and throws the same errors. Whatever it says of `stream`, it
 * is answered with events.
 */
function readCreateFrame(body: unknown): CreateFrame {
  const { type: _type, stream_id: _lane, generate, ...request } = checkMembersOf(responseCreateFrameFields, body);
  if (request.background === true) throw backgroundOverWebSocket();
  return { request: { ...request, stream: true }, generate: generate !== false };
}

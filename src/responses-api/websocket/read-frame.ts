import { ApiError } from "@antiphon/base/api-error.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { messageSize } from "@antiphon/base/message-size.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import {
  responseCreateFrameFields,
  validateResponseCancelFrame,
  validateResponseSteerFrame,
} from "@antiphon/contracts/responses-api/validators.js";
import { checkMembersOf } from "../checks/check-body.ts";
import { invalidType, invalidValue, missingParameter } from "../errors/parameter-errors.ts";
import { bodyNotAnObject } from "../errors/request-errors.ts";
import { typeWords, validationError } from "../errors/validation/validation-error.ts";
import { backgroundOverWebSocket, invalidStreamId } from "../errors/websocket-errors.ts";
import type { SteerRequest } from "./steering.ts";

/** A client's frame, with the parts needed before it is served. */
export interface Frame {
  /** Null if it names no lane. */
  readonly lane: string | null;
  /** The size of the message; 0 if none of it is kept. */
  readonly bytes: number;
  /** Null if the frame names none, or if the value is not a string. */
  readonly previousId: string | null;
  readonly content:
    | { readonly type: "create"; readonly createFrame: CreateFrame }
    /** `responseId` is null if the frame names no response. */
    | { readonly type: "cancel"; readonly responseId: string | null }
    | { readonly type: "steer"; readonly steerRequest: SteerRequest }
    /** `message`: null if it is unreadable, absent if it cancels a response and so requests none. */
    | { readonly type: "fault"; readonly fault: ApiError; readonly message?: unknown };
}

const CREATE = "response.create";
const CANCEL = "response.cancel";
const STEER = "response.steer";

/** Never throws an `ApiError`: an invalid frame gives a content of type `fault`. */
export function readFrame(message: unknown): Frame {
  if (!isRecord(message)) return faultFrame(bodyNotAnObject(typeWords(message)), message);
  const { type, stream_id: streamId, previous_response_id: previousId } = message;
  const lane = streamId ?? null;
  if (lane !== null && !isLaneName(lane)) return faultFrame(invalidStreamId(), message);
  const frameHead = {
    lane,
    bytes: messageSize(message),
    previousId: typeof previousId === "string" ? previousId : null,
  };
  try {
    return { ...frameHead, content: readContent(type, message) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...frameHead, content: { type: "fault", fault: error, ...(type === CANCEL ? {} : { message }) } };
  }
}

function readContent(type: unknown, message: Readonly<Record<string, unknown>>): Frame["content"] {
  if (type === CREATE) return { type: "create", createFrame: readCreateFrame(message) };
  if (type === STEER) return { type: "steer", steerRequest: readSteerFrame(message) };
  if (type !== CANCEL) throw unknownType(type);
  if (!validateResponseCancelFrame(message)) throw validationError(validateResponseCancelFrame.errors ?? [], "");
  return { type: "cancel", responseId: message.response_id ?? null };
}

/** Throws only if the frame names no response: otherwise its input is returned with the fault. */
function readSteerFrame(message: Readonly<Record<string, unknown>>): SteerRequest {
  const bytes = messageSize(message);
  if (validateResponseSteerFrame(message))
    return { responseId: message.previous_response_id, input: message.input, bytes, fault: null };
  const { previous_response_id: responseId, input = null } = message;
  const fault = otherItemIn(input) ?? validationError(validateResponseSteerFrame.errors ?? [], "");
  if (typeof responseId !== "string") throw fault;
  return { responseId, input, bytes, fault };
}

/** The fault of the first item that is no message; null if there is none. */
function otherItemIn(input: unknown): ApiError | null {
  const types = Array.isArray(input) ? input.map((item) => (isRecord(item) ? item["type"] : undefined)) : [];
  const place = types.findIndex((type) => typeof type === "string" && type !== "message");
  return place < 0 ? null : invalidValue(`input[${place}].type`, String(types[place]), ["message"]);
}

/** `message`: null if it cannot be read. */
export function faultFrame(fault: ApiError, message: unknown): Frame {
  return { lane: null, bytes: 0, previousId: null, content: { type: "fault", fault, message } };
}

/** The request for a response in the frame, valid or not; undefined if there is none. */
export function requestIn({ content }: Frame): unknown {
  if (content.type === "create") return content.createFrame.request;
  return content.type === "fault" ? content.message : undefined;
}

function isLaneName(value: unknown): value is string {
  return typeof value === "string" && /^[A-Za-z0-9_.-]{1,256}$/.test(value);
}

function unknownType(type: unknown): ApiError {
  if (type === undefined) return missingParameter("type");
  return typeof type === "string"
    ? invalidValue("type", type, [CREATE, CANCEL, STEER])
    : invalidType("type", "a string", typeWords(type));
}

/** The request in a `response.create` frame. */
export interface CreateFrame {
  readonly request: CreateResponseRequest;
  readonly generate: boolean;
}

/**
 * Checks a frame like the body of a create call and throws the same errors. The reply is always a stream, whatever
 * `stream` says.
 */
function readCreateFrame(body: unknown): CreateFrame {
  const { type: _type, stream_id: _lane, generate, ...request } = checkMembersOf(responseCreateFrameFields, body);
  if (request.background === true) throw backgroundOverWebSocket();
  return { request: { ...request, stream: true }, generate: generate !== false };
}

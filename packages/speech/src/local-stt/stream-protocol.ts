import { ApiError } from "@antiphon/base/api-error.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { SttClientMessage, SttServerMessage } from "@antiphon/contracts/local-stt/types.ts";
import { validateChunkMessage, validateSttClientMessage } from "@antiphon/contracts/local-stt/validators.js";
import { CHUNK_BYTES_MAX } from "./chunk-audio.ts";
import { brokenMessage, chunkTooLarge } from "./errors.ts";
import type { SessionOptions } from "./stt-session.ts";

/** Translates between the messages of one kind of stream and those of a session. */
export interface StreamProtocol<Message> extends SessionOptions {
  /** Reads a client's message; null for a heartbeat. Throws an `ApiError` for an invalid message. */
  read(value: unknown): SttClientMessage | null;
  /** Translates a message of the session; null if this kind of stream does not send it. */
  write(answer: SttServerMessage): Message | null;
  /** Translates an error of reading the stream to one for the client; null if the connection itself broke. */
  faultOf(error: unknown): ApiError | null;
  /** Translates the error that ends the stream. */
  endOf(error: ApiError): ApiError;
}

/** stt-jsonl-v1, whose messages are those of the session. */
export function jsonLines(interim: boolean): StreamProtocol<SttServerMessage> {
  return {
    interim,
    finals: "asked",
    read: readMessage,
    write: (answer) => answer,
    faultOf: streamFault,
    endOf: (error) => error,
  };
}

const NAME_CHARACTERS_MAX = 64;

/** Validates a client's message. Throws an `ApiError` that explains how it breaks the schema. */
function readMessage(value: unknown): SttClientMessage {
  if (validateSttClientMessage(value)) return value;
  if (!isRecord(value)) throw brokenMessage("audio_base64 is required");
  const { type } = value;
  if (type !== undefined && type !== "chunk") {
    const isKnown = type === "flush" || type === "end";
    throw brokenMessage(isKnown ? `a ${type} message has no other members` : "the type must be chunk, flush or end");
  }
  if (typeof value["audio_base64"] !== "string") throw brokenMessage("audio_base64 is required");
  if (type === undefined) throw brokenMessage("type is required");
  validateChunkMessage(value);
  const refusal = validateChunkMessage.errors?.[0];
  if (refusal?.instancePath === "/audio_base64") throw chunkTooLarge(CHUNK_BYTES_MAX);
  const place = refusal?.instancePath.slice(1) ?? "";
  const unknown = String(refusal?.params["additionalProperty"]).slice(0, NAME_CHARACTERS_MAX);
  throw brokenMessage(place === "" ? `a chunk has no member '${unknown}'` : `${place} is not valid`);
}

/** Null if the connection itself broke, so that no client can read an error. */
function streamFault(error: unknown): ApiError | null {
  if (!(error instanceof ApiError)) return null;
  if (error.code === "invalid_json") return brokenMessage("audio_base64 is required: the message is not JSON");
  if (error.code === "upload_too_large") return chunkTooLarge(CHUNK_BYTES_MAX);
  return error;
}

import type { SttClientMessage, SttServerMessage } from "../../generated/local-stt/types.ts";
import { validateChunkMessage, validateSttClientMessage } from "../../generated/local-stt/validators.js";
import { ApiError } from "../base/api-error.ts";
import { isRecord } from "../base/json/records.ts";
import { CHUNK_BYTES_MAX } from "./chunk-audio.ts";
import { brokenMessage, chunkTooLarge } from "./errors.ts";
import type { SessionOptions } from "./stt-session.ts";

/** How one kind of stream says what a session hears and answers. */
export interface StreamProtocol<Message> extends SessionOptions {
  /**
   * What a client's message means; null: no more than that the client is there. Throws the `ApiError` of a broken
   * message.
   */
  read(value: unknown): SttClientMessage | null;
  /** How an answer is said; null: it is left out. */
  write(answer: SttServerMessage): Message | null;
  /** What is told of an error that reading the stream threw; null: the connection itself broke, and nobody listens. */
  faultOf(error: unknown): ApiError | null;
  /** How the error that ends the stream is told. */
  endOf(error: ApiError): ApiError;
}

/** stt-jsonl-v1, whose messages are the session's own. */
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

/** The message that a client sent. Throws the `ApiError` that says how it breaks the schema. */
function readMessage(value: unknown): SttClientMessage {
  if (validateSttClientMessage(value)) return value;
  if (!isRecord(value)) throw brokenMessage("audio_base64 is required");
  const { type } = value;
  if (type !== undefined && type !== "chunk") {
    const known = type === "flush" || type === "end";
    throw brokenMessage(known ? `a ${type} message has no other members` : "the type must be chunk, flush or end");
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

/** What a stream says of an error that reading it threw; null where the connection itself broke, and nobody listens. */
function streamFault(error: unknown): ApiError | null {
  if (!(error instanceof ApiError)) return null;
  if (error.code === "invalid_json") return brokenMessage("audio_base64 is required: the message is not JSON");
  if (error.code === "upload_too_large") return chunkTooLarge(CHUNK_BYTES_MAX);
  return error;
}

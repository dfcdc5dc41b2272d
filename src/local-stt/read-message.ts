import type { SttClientMessage } from "../../generated/local-stt/types.ts";
import { validateChunkMessage, validateSttClientMessage } from "../../generated/local-stt/validators.js";
import { isRecord } from "../base/json/records.ts";
import { CHUNK_BYTES_MAX } from "./chunk-audio.ts";
import { brokenMessage, chunkTooLarge } from "./errors.ts";

const NAME_CHARACTERS_MAX = 64;

/** The message that a client sent. Throws the `ApiError` that says how it breaks the schema. */
export function readMessage(value: unknown): SttClientMessage {
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

import { ApiError } from "@antiphon/base/api-error.ts";
import { assertNever } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type {
  CloudFinalMessage,
  CloudInterimMessage,
  SttClientMessage,
  SttServerMessage,
} from "@antiphon/contracts/local-stt/types.ts";
import { validateCloudAudioMessage, validateCloudClientMessage } from "@antiphon/contracts/local-stt/validators.js";
import { brokenMessage } from "../local-stt/errors.ts";
import type { StreamProtocol } from "../local-stt/stream-protocol.ts";
import { streamEnd } from "./errors.ts";

/** The cloud stream: finals come at pauses, and only transcripts are sent. The engine reports no confidence. */
export const CLOUD_PROTOCOL: StreamProtocol<CloudInterimMessage | CloudFinalMessage> = {
  interim: true,
  finals: "at_pauses",
  read: readCloudMessage,
  write: writeAnswer,
  faultOf: cloudFault,
  endOf: streamEnd,
};

/** Null for a heartbeat. Throws an `ApiError` that explains how a message breaks the schema. */
function readCloudMessage(value: unknown): SttClientMessage | null {
  if (!validateCloudClientMessage(value)) throw brokenMessage(reasonOf(value));
  if (value.type === "heartbeat") return null;
  return { ...value, type: "chunk" };
}

function reasonOf(value: unknown): string {
  if (!isRecord(value)) return "A message is a JSON object.";
  const { type } = value;
  if (type === "heartbeat") return "A heartbeat has no other members.";
  if (type !== "audio") return "The type must be audio or heartbeat.";
  if (typeof value["audio_base64"] !== "string") return "audio_base64 is required.";
  validateCloudAudioMessage(value);
  const place = validateCloudAudioMessage.errors?.[0]?.instancePath.slice(1) ?? "";
  return place === "" ? "An audio message has members that are not known." : `${place} is not valid.`;
}

function writeAnswer(answer: SttServerMessage): CloudInterimMessage | CloudFinalMessage | null {
  switch (answer.type) {
    case "transcript.partial":
      return { type: "interim", text: answer.text, confidence: null };
    case "transcript.final":
      return {
        type: "final",
        text: answer.text,
        ...(answer.language === undefined ? {} : { language: answer.language }),
        confidence: null,
        ...warningOf(answer),
      };
    case "hello":
    case "ack":
    case "error":
    case "stream.closed":
      return null;
    default:
      return assertNever(answer);
  }
}

function warningOf({ warning }: { readonly warning?: string }): { readonly warning?: string } {
  return warning === undefined ? {} : { warning };
}

function cloudFault(error: unknown): ApiError | null {
  if (!(error instanceof ApiError)) return null;
  return error.code === "invalid_json" ? brokenMessage("The message is not valid JSON.") : error;
}

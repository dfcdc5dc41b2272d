import type { ApiError } from "@antiphon/base/api-error.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { type ReceiveRealtime, receiveRealtimeTypes } from "@antiphon/contracts/audio/realtime-events.ts";
import {
  validateRealtimeAppendEvent,
  validateRealtimeClearEvent,
  validateRealtimeCommitEvent,
  validateRealtimeSessionUpdateEvent,
} from "@antiphon/contracts/audio/validators.js";
import { eventNotKnown, eventNotObject, eventNotOffered, eventTypeMissing, realtimeRefusal } from "./errors.ts";

/** Events of sessions with a model that answers. */
const OF_CONVERSATIONS: ReadonlySet<string> = new Set([
  "conversation.item.create",
  "conversation.item.delete",
  "conversation.item.retrieve",
  "conversation.item.truncate",
  "output_audio_buffer.clear",
  "response.cancel",
  "response.create",
]);
const OLDER = "transcription_session.update";

/** Reads an event of a client. Throws an `ApiError` that says what is wrong with it. */
export function readRealtimeEvent(value: unknown): ReceiveRealtime {
  if (!isRecord(value)) throw eventNotObject();
  switch (value["type"]) {
    case "session.update":
      if (validateRealtimeSessionUpdateEvent(value)) return value;
      throw eventRefusal(validateRealtimeSessionUpdateEvent);
    case "input_audio_buffer.append":
      if (validateRealtimeAppendEvent(value)) return value;
      throw eventRefusal(validateRealtimeAppendEvent);
    case "input_audio_buffer.commit":
      if (validateRealtimeCommitEvent(value)) return value;
      throw eventRefusal(validateRealtimeCommitEvent);
    case "input_audio_buffer.clear":
      if (validateRealtimeClearEvent(value)) return value;
      throw eventRefusal(validateRealtimeClearEvent);
    default:
      throw typeRefusal(value["type"]);
  }
}

function eventRefusal({ errors }: Pick<typeof validateRealtimeAppendEvent, "errors">): ApiError {
  return realtimeRefusal(errors ?? [], "");
}

function typeRefusal(type: unknown): ApiError {
  if (typeof type !== "string") return eventTypeMissing();
  if (type === OLDER || OF_CONVERSATIONS.has(type)) return eventNotOffered(type, type === OLDER);
  return eventNotKnown(type, receiveRealtimeTypes);
}

const EVENT_ID_CHARACTERS_MAX = 512;

/** The client's name of an event, which may be invalid otherwise; null if it has none. */
export function eventIdOf(value: unknown): string | null {
  const id = isRecord(value) ? value["event_id"] : null;
  return typeof id === "string" && id.length <= EVENT_ID_CHARACTERS_MAX ? id : null;
}

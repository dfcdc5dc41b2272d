import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { readJsonInSlices } from "@antiphon/base/json/read-json-in-slices.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ChatRequest } from "../../context/chat-wire.ts";
import type { SentParts } from "../../model-server/connections/request-body.ts";
import { isList } from "../../model-server/json-values.ts";

/** Reads the body of a sent turn. The HTTP client keeps the body anyway, so nothing else must be kept. */
export async function readSentChat(parts: SentParts): Promise<ChatRequest> {
  if (parts.length === 1) return readOwnJson<ChatRequest>(String(parts[0]));
  // A body larger than the receiving limit is read at once.
  const chat = await readJsonInSlices(parts).catch(() => null);
  return isChat(chat) ? chat : readOwnJson<ChatRequest>(Buffer.concat(parts).toString());
}

function isChat(value: unknown): value is ChatRequest {
  return isRecord(value) && isList(value["messages"]);
}

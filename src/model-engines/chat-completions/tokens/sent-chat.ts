import { readOwnJson } from "../../../base/json/read-json.ts";
import { readJsonInSlices } from "../../../base/json/read-json-in-slices.ts";
import { isRecord } from "../../../base/json/records.ts";
import { isList } from "../json-values.ts";
import type { ChatRequest } from "../request/chat-wire.ts";

/** The body of a turn, as `requestBody` encoded it, in its parts. */
export type SentParts = readonly Buffer[];

/** Reads the body of a turn that was sent. The HTTP client keeps the body anyway, so that nothing else need be kept. */
export async function readSentChat(parts: SentParts): Promise<ChatRequest> {
  if (parts.length === 1) return readOwnJson<ChatRequest>(String(parts[0]));
  // A body that was larger than those that are received is read at once.
  const chat = await readJsonInSlices(parts).catch(() => null);
  return isChat(chat) ? chat : readOwnJson<ChatRequest>(Buffer.concat(parts).toString());
}

function isChat(value: unknown): value is ChatRequest {
  return isRecord(value) && isList(value["messages"]);
}

import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import type { ChatAssistantMessage } from "@antiphon/contracts/chat-completions/types.ts";
import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { ClientSeal } from "../client-seal.ts";
import { AnswerText } from "./answer-text.ts";

/** The seconds for which clients are told that they can go on by the id of a sound. It works for longer. */
export const AUDIO_ID_S = 24 * 60 * 60;

/** Hosted items with more characters, such as several pictures, are not sent to clients. */
const HOSTED_CHARACTERS_MAX = 12 * 1024 * 1024;

const AUDIO_PREFIX = "audio_";
/** The items that a chat completion shows. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);

/** An id that holds the transcript. */
export function audioIdOf(transcript: string, { seal }: Pick<ClientSeal, "seal">): string {
  return AUDIO_PREFIX + seal("transcript", transcript);
}

/** The transcript in an id; null if this server did not give the id to the caller. */
export function transcriptIn(audioId: string, { open }: OpeningSeal): string | null {
  return audioId.startsWith(AUDIO_PREFIX) ? open("transcript", audioId.slice(AUDIO_PREFIX.length)) : null;
}

export type OpeningSeal = Pick<ClientSeal, "open">;

/** The answer with all its items, sealed; null if tools of this server did nothing for it. */
export function sealedHostedItems(output: readonly OutputItem[], { seal }: Pick<ClientSeal, "seal">): string | null {
  if (output.every(({ type }) => SHOWN_TYPES.has(type))) return null;
  const text = JSON.stringify(output);
  return text.length > HOSTED_CHARACTERS_MAX ? null : seal("items", text);
}

/** What a client sent back of an answer with hosted items. */
export interface ReturnedItems {
  readonly items: readonly OutputItem[];
  /** Whether they are the whole answer. If not, the client has changed it, and they are its hosted items alone. */
  readonly areWhole: boolean;
}

/** The items of an answer that a client sent back with its hosted items; null if it has none that can be opened. */
export function returnedItems(message: ChatAssistantMessage, seal: OpeningSeal): ReturnedItems | null {
  if (message.hosted_items == null) return null;
  const text = seal.open("items", message.hosted_items);
  if (text === null) return null;
  const items = readOwnJson<readonly OutputItem[]>(text);
  const areWhole = textIn(message, seal) === (AnswerText.of(items).content ?? "") && haveSameCalls(message, items);
  return { items: areWhole ? items : items.filter(({ type }) => !SHOWN_TYPES.has(type)), areWhole };
}

function textIn({ content, audio }: ChatAssistantMessage, seal: OpeningSeal): string {
  if (content == null) return audio == null ? "" : (transcriptIn(audio.id, seal) ?? "");
  return typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function haveSameCalls({ tool_calls: calls }: ChatAssistantMessage, items: readonly OutputItem[]): boolean {
  const shownIds = items.flatMap((item) =>
    item.type === "function_call" || item.type === "custom_tool_call" ? [item.call_id] : [],
  );
  return shownIds.join("\n") === (calls ?? []).map(({ id }) => id).join("\n");
}

import type { ChatStoredMessage, ChatToolCall, ChatUserPart } from "@antiphon/contracts/chat-completions/types.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";

/** The messages that these items were, in their order. Calls belong to the answer before them. */
export function storedMessages(items: readonly StoredItem[], completionId: string): ChatStoredMessage[] {
  const messages: Omit<ChatStoredMessage, "id">[] = [];
  for (const item of items) {
    const call = toolCall(item);
    const last = messages.at(-1);
    if (call !== null && last?.role === "assistant") last.tool_calls = [...(last.tool_calls ?? []), call];
    else if (call !== null)
      messages.push({ role: "assistant", content: null, content_parts: null, tool_calls: [call] });
    else messages.push(...messageOf(item));
  }
  return messages.map((message, index) => ({ id: `${completionId}-${index}`, ...message }));
}

function toolCall(item: StoredItem): ChatToolCall | null {
  if (item.type === "function_call")
    return { id: item.call_id, type: "function", function: { name: item.name, arguments: item.arguments } };
  if (item.type === "custom_tool_call")
    return { id: item.call_id, type: "custom", custom: { name: item.name, input: item.input } };
  return null;
}

/** Reasoning has no message. */
function messageOf(item: StoredItem): Omit<ChatStoredMessage, "id">[] {
  if (item.type === "message") return [roleMessage(item)];
  if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") return [];
  const { call_id: id, output } = item;
  const parts = typeof output === "string" ? null : output.flatMap(chatPart);
  const content = typeof output === "string" ? output : textOfParts(parts ?? []);
  return [{ role: "tool", content, content_parts: parts, tool_call_id: id }];
}

type StoredMessage = Extract<StoredItem, { type: "message" }>;

function roleMessage({ role, content }: StoredMessage): Omit<ChatStoredMessage, "id"> {
  const parts = content.flatMap(chatPart);
  const refusals = content.flatMap((part) => (part.type === "refusal" ? [part.refusal] : []));
  const isOneText = parts.length === 1 && parts[0]?.type === "text";
  return {
    role: role === "assistant" || role === "developer" || role === "system" ? role : "user",
    content: parts.length === 0 ? null : textOfParts(parts),
    content_parts: isOneText || parts.length === 0 ? null : parts,
    ...(refusals.length === 0 ? {} : { refusal: refusals.join("") }),
  };
}

function textOfParts(parts: readonly ChatUserPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

type StoredPart =
  | StoredMessage["content"][number]
  | Exclude<Extract<StoredItem, { type: "function_call_output" }>["output"], string>[number];

/** Refusals are a member of their own. */
function chatPart(part: StoredPart): ChatUserPart[] {
  if (part.type === "input_text" || part.type === "output_text") return [{ type: "text", text: part.text }];
  if (part.type === "input_image") {
    const { image_url: url, detail } = part;
    return url == null ? [] : [{ type: "image_url", image_url: { url, detail } }];
  }
  if (part.type === "input_audio") {
    const { data, format } = part.input_audio;
    return format === "mp3" || format === "wav" ? [{ type: "input_audio", input_audio: { data, format } }] : [];
  }
  if (part.type !== "input_file") return [];
  const { file_id, filename = null, file_data = null } = part;
  return [{ type: "file", file: { file_id, filename, file_data } }];
}

import type { ChatPart } from "../../context/chat-wire.ts";
import type { CountedChat } from "../../context/estimate-chat-tokens.ts";
import { estimateChatTokens } from "../../context/estimate-chat-tokens.ts";
import type { MessagesBlock, MessagesRequest, MessagesTurn, ShownBlock } from "../request/messages-wire.ts";

type ChatMessage = CountedChat["messages"][number];

/** Estimates the tokens of a request's input, as those of a chat that says the same. */
export function estimateMessageTokens(body: MessagesRequest, signal: AbortSignal): Promise<number> {
  const { model, system = [], messages, tools = [] } = body;
  const chat: CountedChat = {
    model,
    messages: [
      ...system.map(({ text }): ChatMessage => ({ role: "system", content: text })),
      ...messages.flatMap(chatMessages),
    ],
    tools: tools.map(({ name, description = "", input_schema: parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    })),
  };
  return estimateChatTokens(chat, signal);
}

function chatMessages({ role, content }: MessagesTurn): readonly ChatMessage[] {
  const parts = content.flatMap(partsOf);
  if (role === "user") return [{ role, content: parts }];
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  return [{ role, content: text }];
}

function partsOf(block: MessagesBlock): readonly ChatPart[] {
  switch (block.type) {
    case "text":
    case "image":
    case "document":
      return [shownPart(block)];
    case "tool_use":
      return [{ type: "text", text: `${block.name} ${JSON.stringify(block.input)}` }];
    case "tool_result": {
      const { content } = block;
      return typeof content === "string" ? [{ type: "text", text: content }] : content.map(shownPart);
    }
    case "thinking":
      return [{ type: "text", text: block.thinking }];
    case "redacted_thinking":
      return []; // Its tokens are not known.
  }
}

function shownPart(block: ShownBlock): ChatPart {
  if (block.type === "text") return { type: "text", text: block.text };
  const { source } = block;
  const url = source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
  if (block.type === "image") return { type: "image_url", image_url: { url } };
  return { type: "file", file: { filename: block.title ?? "", file_data: url } };
}

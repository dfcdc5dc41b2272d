import type { ChatMessage, ChatPart, ChatRequest, ChatTool } from "../../context/chat-wire.ts";
import type { ResponsesRequest, WireItem, WirePart, WireTool } from "../request/responses-wire.ts";

/** The same texts and attachments as a chat-completions request, whose tokens can be estimated. */
export function chatOfRequest({ model, instructions, input, tools = [] }: ResponsesRequest): ChatRequest {
  const system: readonly ChatMessage[] = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  return {
    model,
    messages: [...system, ...input.map(messageOfItem)],
    stream: true,
    stream_options: { include_usage: true },
    tools: tools.map(chatTool),
  };
}

function messageOfItem(item: WireItem): ChatMessage {
  if ("role" in item) {
    const { role, content } = item;
    return role === "system" ? { role, content: wireText(content) } : { role: "user", content: chatContent(content) };
  }
  switch (item.type) {
    case "reasoning":
      return { role: "user", content: JSON.stringify(item.content ?? item.summary) };
    case "function_call":
      return { role: "user", content: `${item.name} ${item.arguments}` };
    case "custom_tool_call":
      return { role: "user", content: `${item.name} ${item.input}` };
    case "function_call_output":
    case "custom_tool_call_output":
      return { role: "user", content: chatContent(item.output) };
  }
}

function chatContent(content: string | readonly WirePart[]): string | readonly ChatPart[] {
  return typeof content === "string" ? content : content.map(chatPart);
}

function wireText(content: string | readonly WirePart[]): string {
  return typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join("\n");
}

function chatPart(part: WirePart): ChatPart {
  switch (part.type) {
    case "input_text":
    case "output_text":
      return { type: "text", text: part.text };
    case "refusal":
      return { type: "text", text: part.refusal };
    case "input_image": {
      const detail = part.detail === "low" ? "low" : part.detail === "auto" ? "auto" : "high";
      return { type: "image_url", image_url: { url: part.image_url, detail } };
    }
    case "input_file":
      return { type: "file", file: { filename: part.filename, file_data: part.file_data } };
    case "input_audio":
      return part;
  }
}

function chatTool(tool: WireTool): ChatTool {
  const { name, description = "" } = tool;
  const parameters = tool.type === "function" ? tool.parameters : (tool.format ?? {});
  return { type: "function", function: { name, description, parameters } };
}

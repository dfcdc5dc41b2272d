import type * as ResponsesApi from "@antiphon/contracts/responses-api/types.ts";
import type { DynamicToolUIPart, FileUIPart, ToolUIPart, UIMessage } from "ai";
import { isRecord, plainText, textAt } from "../http/json-members.ts";

type Part = UIMessage["parts"][number];
type ToolPart = ToolUIPart | DynamicToolUIPart;
type Content = ResponsesApi.InputText | ResponsesApi.InputImage | ResponsesApi.InputFile;

/** The input of the request for the next answer of a chat. */
export interface RequestInput {
  /** The latest response that ended well; it and everything before it need not be sent again. */
  readonly previousResponseId: string | null;
  readonly input: ResponsesApi.InputItem[];
}

/**
 * The input for the next answer: the messages after the latest response that the chat can continue, preceded by the
 * outputs of this response's tool calls. The metadata of its message contains the response's id.
 */
export function requestInputOf(messages: readonly UIMessage[]): RequestInput {
  const place = messages.findLastIndex((message) => responseIdOf(message) !== null);
  const answer = messages[place];
  const later = messages.slice(place + 1).flatMap(messageItems);
  if (answer === undefined) return { previousResponseId: null, input: later };
  return { previousResponseId: responseIdOf(answer), input: [...outputsOf(answer), ...later] };
}

/**
 * The same without a response to continue, for chats whose responses are gone: all texts, and the calls with known
 * outputs.
 */
export function wholeInputOf(messages: readonly UIMessage[]): RequestInput {
  const input = messages.flatMap((message) =>
    message.role === "assistant" ? message.parts.flatMap(answeredItemsOf) : messageItems(message),
  );
  return { previousResponseId: null, input };
}

function answeredItemsOf(part: Part): ResponsesApi.InputItem[] {
  if (part.type === "text" && part.text !== "") return [{ type: "message", role: "assistant", content: part.text }];
  return isToolPart(part) && part.providerExecuted !== true ? toolCallItems(part) : [];
}

function toolCallItems(part: ToolPart): ResponsesApi.InputItem[] {
  const output = outputTextOf(part);
  if (output === null) return [];
  const { toolCallId: call_id, input } = part;
  const name = part.type === "dynamic-tool" ? part.toolName : part.type.slice("tool-".length);
  return isCustom(part)
    ? [
        { type: "custom_tool_call", call_id, name, input: plainText(input ?? "") },
        { type: "custom_tool_call_output", call_id, output },
      ]
    : [
        { type: "function_call", call_id, name, arguments: JSON.stringify(input ?? {}) },
        { type: "function_call_output", call_id, output },
      ];
}

/** The latest response of a message; null if none of its responses ended well. */
export function responseIdOf({ role, metadata }: UIMessage): string | null {
  return role === "assistant" && isRecord(metadata) ? textAt(metadata, "responseId") : null;
}

function messageItems(message: UIMessage): ResponsesApi.InputItem[] {
  if (message.role !== "assistant") {
    const content = message.parts.flatMap(partContent);
    return content.length === 0 ? [] : [{ type: "message", role: message.role, content }];
  }
  // An answer that failed or was stopped cannot be continued, so its text is sent.
  const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  return text === "" ? [] : [{ type: "message", role: "assistant", content: text }];
}

function partContent(part: Part): Content[] {
  if (part.type === "text") return [{ type: "input_text", text: part.text }];
  return part.type === "file" ? [fileContentOf(part)] : [];
}

function fileContentOf({ mediaType, url, filename }: FileUIPart): Content {
  if (mediaType.startsWith("image/")) return { type: "input_image", image_url: url, detail: "auto" };
  if (!url.startsWith("data:")) return { type: "input_file", file_url: url };
  return { type: "input_file", filename: filename ?? "file", file_data: url };
}

/** The outputs and approvals that the latest step of a message is missing. One step is one response. */
function outputsOf({ parts }: UIMessage): ResponsesApi.InputItem[] {
  const step = parts.slice(parts.findLastIndex(({ type }) => type === "step-start") + 1);
  return step.flatMap((part) => (isToolPart(part) ? outputOf(part) : []));
}

export function isToolPart(part: Part): part is ToolPart {
  return part.type === "dynamic-tool" || part.type.startsWith("tool-");
}

function outputOf(part: ToolPart): ResponsesApi.InputItem[] {
  const { approval, toolCallId } = part;
  if (part.state === "approval-responded" && approval !== undefined) {
    const { id, approved, reason } = approval;
    const item = { type: "mcp_approval_response", approval_request_id: id, approve: approved === true } as const;
    return [reason === undefined ? item : { ...item, reason }];
  }
  if (part.providerExecuted === true) return [];
  const output = outputTextOf(part);
  if (output === null) return [];
  return [{ type: isCustom(part) ? "custom_tool_call_output" : "function_call_output", call_id: toolCallId, output }];
}

function isCustom({ callProviderMetadata: metadata }: ToolPart): boolean {
  return isRecord(metadata) && "custom" in (metadata["antiphon"] ?? {});
}

function outputTextOf(part: ToolPart): string | null {
  if (part.state === "output-available") return plainText(part.output ?? null);
  return part.state === "output-error" ? `Error: ${part.errorText}` : null;
}

import { assertNever } from "@antiphon/base/assert.ts";
import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";
import { invalidInput } from "../model-server/errors/model-errors.ts";
import type { ChatPart } from "./chat-wire.ts";
import { type CallOutput, callOutput, type HistoryStep } from "./history.ts";
import { mapContent, mapPart } from "./map-content.ts";
import { readHostedItem } from "./read-hosted-items.ts";
import { flatName } from "./tool-names.ts";

type Item<Type> = Extract<InputItem, { type: Type }>;
type Message = Extract<InputItem, { role: unknown; content: unknown }>;
type MessagePart = Exclude<Message["content"], string>[number];
/** Outputs of custom tools have the same form. */
type ToolOutput = Item<"function_call_output">["output"];

/**
 * Reads an item as steps of the history. Throws `ModelError` for content that cannot be expressed, instead of dropping
 * it.
 */
export function readItem(item: InputItem, position: number): HistoryStep | readonly HistoryStep[] {
  if (isMessage(item)) return singleTextStep(item) ?? readMessage(item, `input[${position}].content`);
  return readOther(item, `input[${position}]`);
}

function readOther(item: Exclude<InputItem, Message>, path: string): readonly HistoryStep[] {
  switch (item.type) {
    case "reasoning":
      return readReasoning(item);
    case "function_call":
      return [
        {
          type: "call",
          callId: item.call_id,
          name: flatName(item.namespace, item.name),
          arguments: item.arguments === "" ? "{}" : item.arguments,
        },
      ];
    case "custom_tool_call":
      return [
        {
          type: "call",
          callId: item.call_id,
          name: flatName(item.namespace, item.name),
          arguments: JSON.stringify({ input: item.input }),
        },
      ];
    case "function_call_output":
    case "custom_tool_call_output":
      return [readToolOutput(item.call_id ?? "", item.output, `${path}.output`)];
    case "additional_tools": // Its tools are sent with the others.
    case "configuration_update": // Its settings are part of the request.
      return [];
    case undefined:
    case null:
    case "compaction":
    case "compaction_trigger":
    case "item_reference":
    case "input_text":
    case "input_image":
    case "input_audio":
    case "input_file":
    case "tool_result":
      throw invalidInput(
        `Items of type '${item.type ?? "item_reference"}' must be resolved before a model is asked.`,
        path,
      );
    default:
      return readHostedItem(item, path);
  }
}

function isMessage(item: InputItem): item is Message {
  return "role" in item && "content" in item;
}

/** Reads a message with a single text, the usual case; null for any other. */
function singleTextStep({ role, content }: Message): HistoryStep | null {
  if (typeof content === "string") return textStep(role, content);
  const [part] = content;
  const isText = content.length === 1 && (part?.type === "input_text" || part?.type === "output_text");
  return isText ? textStep(role, part.text) : null;
}

function readMessage({ role, content }: Message, path: string): HistoryStep {
  if (role !== "user" || typeof content === "string") return textStep(role, contentText(content, path));
  const parts = content.map((part, at) => inputPart(part, `${path}[${at}]`));
  return { type: "user", content: mapContent(parts, path) };
}

function textStep(role: Message["role"], text: string): HistoryStep {
  switch (role) {
    case "user":
      return { type: "user", content: text };
    case "assistant":
      return { type: "assistant_text", text };
    case "system":
    case "developer":
      return { type: "instruction", text };
    default:
      return assertNever(role);
  }
}

/** Output text inside a user message is read as input text. */
function inputPart(part: MessagePart, path: string): Exclude<MessagePart, { type: "output_text" | "refusal" }> {
  if (part.type === "output_text") return { type: "input_text", text: part.text };
  if (part.type === "refusal")
    throw invalidInput(`Invalid '${path}': a refusal belongs to an assistant message.`, path, "invalid_value");
  return part;
}

function contentText(content: Message["content"], path: string): string {
  if (typeof content === "string") return content;
  return content
    .map((part, position) => {
      if (part.type === "refusal") return part.refusal;
      if (part.type === "output_text" || part.type === "input_text") return part.text;
      const partPath = `${path}[${position}]`;
      throw invalidInput(
        `Invalid '${partPath}': only user messages can hold content of type '${part.type}' with this model server.`,
        partPath,
        "unsupported_value",
      );
    })
    .join("\n");
}

/** Its `encrypted_content` is for another model server. */
function readReasoning(item: Item<"reasoning">): readonly HistoryStep[] {
  const thoughts = (item.content ?? []).map((part) => part.text).join("\n");
  const text = thoughts === "" ? item.summary.map((part) => part.text).join("\n") : thoughts;
  return text === "" ? [] : [{ type: "reasoning", text }];
}

export function readToolOutput(callId: string, output: ToolOutput, path: string): CallOutput {
  if (typeof output === "string") return callOutput(callId, output);
  const chatParts = output.map((part, position) => mapPart(part, `${path}[${position}]`));
  const texts = chatParts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const others = chatParts.filter((part: ChatPart) => part.type !== "text");
  return callOutput(callId, texts.join("\n"), others);
}

import { assertNever } from "@antiphon/base/assert.ts";
import type {
  ChatAssistantMessage,
  ChatMessageInput,
  ChatToolPart,
  ChatUserPart,
} from "@antiphon/contracts/chat-completions/types.ts";
import type { InputItem, MessageContentPartInput } from "@antiphon/contracts/responses-api/types.ts";
import { invalidRequest } from "../../responses-api/errors/invalid-request.ts";
import { type OpeningSeal, returnedItems, transcriptIn } from "./sealed-answer.ts";

/** The input items that the messages of a chat stand for. */
export function inputItems(messages: readonly ChatMessageInput[], seal: OpeningSeal): InputItem[] {
  const calls = new EarlierCalls();
  return messages.flatMap((message, index) =>
    message.role === "assistant"
      ? itemsOfAnswer(withTranscript(message, index, seal), calls, seal)
      : itemsOfMessage(message, calls),
  );
}

function itemsOfMessage(message: Exclude<ChatMessageInput, ChatAssistantMessage>, calls: EarlierCalls): InputItem[] {
  switch (message.role) {
    case "developer":
    case "system":
    case "user":
      return [{ type: "message", role: message.role, content: inputContent(message.content) }];
    case "tool":
      return [outputItem(calls.typeOf(message.tool_call_id), message.tool_call_id, toolOutput(message.content))];
    case "function":
      return [outputItem("function_call", calls.latestOf(message.name), message.content ?? "")];
    default:
      return assertNever(message);
  }
}

function inputContent(content: string | readonly ChatUserPart[]): string | MessageContentPartInput[] {
  return typeof content === "string" ? content : content.map(inputPart);
}

function inputPart(part: ChatUserPart): MessageContentPartInput {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image_url": {
      const { url, detail } = part.image_url;
      return { type: "input_image", image_url: url, detail: detail ?? "auto" };
    }
    case "input_audio":
      return { type: "input_audio", input_audio: { data: part.input_audio.data, format: part.input_audio.format } };
    case "file": {
      const { file_data: data, file_id: id, filename } = part.file;
      return {
        type: "input_file",
        ...(data == null ? {} : { file_data: data }),
        ...(id == null ? {} : { file_id: id }),
        ...(filename == null ? {} : { filename }),
      };
    }
    default:
      return assertNever(part);
  }
}

/** The answer with the text of its sound. Throws an `ApiError` if the sound is unknown and there is no other text. */
function withTranscript(message: ChatAssistantMessage, index: number, seal: OpeningSeal): ChatAssistantMessage {
  const { audio, content } = message;
  if (audio == null || content != null) return message;
  const transcript = transcriptIn(audio.id, seal);
  if (transcript === null)
    throw invalidRequest(
      400,
      "invalid_value",
      `messages[${index}].audio.id`,
      "This id of a sound is not one that this server gave you. Send the transcript as 'content'.",
    );
  return { ...message, content: transcript };
}

/** With its hosted items, an answer is what it was. Of one that its client has changed, they come first. */
function itemsOfAnswer(message: ChatAssistantMessage, calls: EarlierCalls, seal: OpeningSeal): InputItem[] {
  const shown = [...reasoningItems(message), ...answerItems(message), ...callItems(message, calls)];
  const returned = returnedItems(message, seal);
  if (returned === null) return shown;
  return returned.areWhole ? [...returned.items] : [...returned.items, ...shown];
}

/** Chat servers send reasoning under one of two names, and clients send back what they got. */
function reasoningItems({ reasoning_content, reasoning }: ChatAssistantMessage): InputItem[] {
  const text = reasoning_content ?? reasoning ?? "";
  return text === "" ? [] : [{ type: "reasoning", summary: [], content: [{ type: "reasoning_text", text }] }];
}

/** A message that only calls tools has no item of its own. */
function answerItems({
  content,
  refusal,
  tool_calls: toolCalls,
  function_call: call,
}: ChatAssistantMessage): InputItem[] {
  const parts: MessageContentPartInput[] = [];
  if (typeof content === "string") {
    if (content !== "") parts.push({ type: "output_text", text: content });
  } else {
    for (const part of content ?? [])
      parts.push(part.type === "text" ? { type: "output_text", text: part.text } : part);
  }
  if (refusal != null && refusal !== "") parts.push({ type: "refusal", refusal });
  const calls = (toolCalls?.length ?? 0) > 0 || call != null;
  if (parts.length === 0 && calls) return [];
  return [
    { type: "message", role: "assistant", content: parts.length === 0 ? [{ type: "output_text", text: "" }] : parts },
  ];
}

function callItems(
  { tool_calls: toolCalls, function_call: legacyCall }: ChatAssistantMessage,
  calls: EarlierCalls,
): InputItem[] {
  const items: InputItem[] = (toolCalls ?? []).map((call) => {
    if (call.type === "custom") {
      calls.add(call.id, "custom_tool_call", call.custom.name);
      return { type: "custom_tool_call", call_id: call.id, name: call.custom.name, input: call.custom.input };
    }
    calls.add(call.id, "function_call", call.function.name);
    const { name, arguments: json } = call.function;
    return { type: "function_call", call_id: call.id, name, arguments: json };
  });
  if (legacyCall == null || items.length > 0) return items; // Some clients send both forms of one call.
  const callId = calls.addUnnamed(legacyCall.name);
  return [{ type: "function_call", call_id: callId, name: legacyCall.name, arguments: legacyCall.arguments }];
}

type CallType = "function_call" | "custom_tool_call";

/** The calls so far. */
class EarlierCalls {
  readonly #types = new Map<string, CallType>();
  readonly #latest = new Map<string, string>();

  add(callId: string, type: CallType, name: string): void {
    this.#types.set(callId, type);
    this.#latest.set(name, callId);
  }

  /** Adds a call in the deprecated form, which has no id, and returns the id that it gets. */
  addUnnamed(name: string): string {
    const callId = `call_${this.#types.size}`;
    this.add(callId, "function_call", name);
    return callId;
  }

  typeOf(callId: string): CallType {
    return this.#types.get(callId) ?? "function_call";
  }

  /** The id of the latest call of a function; an id that no call has if there is none. */
  latestOf(name: string): string {
    return this.#latest.get(name) ?? `call_of_${name}`;
  }
}

type ToolOutput = Extract<InputItem, { type: "function_call_output" }>["output"];

function toolOutput(content: string | readonly ChatToolPart[]): ToolOutput {
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "text"
      ? { type: "input_text", text: part.text }
      : { type: "input_image", image_url: part.image_url.url, detail: part.image_url.detail ?? "auto" },
  );
}

function outputItem(type: CallType, callId: string, output: ToolOutput): InputItem {
  return type === "custom_tool_call"
    ? { type: "custom_tool_call_output", call_id: callId, output }
    : { type: "function_call_output", call_id: callId, output };
}

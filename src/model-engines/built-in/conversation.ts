import type { InputItem } from "../../../generated/responses-api/types.ts";
import type { HostedOutput } from "../../runs/hosted.ts";
import type { ContextItem } from "../../runs/request/model-request.ts";

/** A longer message is cut here before it is read. */
const READ_CHARS_MAX = 100_000;

export interface Attachments {
  readonly images: number;
  readonly files: number;
  readonly audio: number;
}

export interface ToolOutput {
  /** The tool's name; null if the context lacks its call. */
  readonly tool: string | null;
  readonly text: string;
  /** The id of a source that the output offers to cite, such as `web:1`; null if it offers none. */
  readonly source: string | null;
}

/** The parts of the input that the engine looks at. */
export interface Conversation {
  /** One text for each user message, oldest first. */
  readonly userTexts: readonly string[];
  /** The last user message; empty if there is none. */
  readonly text: string;
  readonly attachments: Attachments;
  /** Tool outputs after the last user or assistant message, oldest first. Developer messages in between are allowed. */
  readonly toolOutputs: readonly ToolOutput[];
  /** All messages of developers. */
  readonly systemTexts: readonly string[];
}

type Message = Extract<InputItem, { role: string; content: unknown }>;
type Part = Exclude<Message["content"], string>[number];
type OutputItem = Extract<InputItem, { type: "function_call_output" | "custom_tool_call_output" }> | HostedOutput;

export function readConversation(items: readonly ContextItem[]): Conversation {
  const messages = items.filter(isMessage);
  const userMessages = messages.filter((message) => message.role === "user");
  const userTexts = userMessages.map(messageText);
  return {
    userTexts,
    text: userTexts.at(-1) ?? "",
    attachments: countAttachments(userMessages.at(-1)),
    toolOutputs: latestOutputs(items),
    systemTexts: messages
      .filter((message) => message.role === "system" || message.role === "developer")
      .map(messageText),
  };
}

export function isMessage(item: ContextItem): item is Message {
  return "role" in item && "content" in item;
}

export function isToolOutput(item: ContextItem): item is OutputItem {
  return (
    item.type === "function_call_output" || item.type === "custom_tool_call_output" || item.type === "hosted_output"
  );
}

function messageText({ content }: Message): string {
  const text =
    typeof content === "string"
      ? content
      : content
          .map(partText)
          .filter((part) => part !== "")
          .join("\n");
  return text.slice(0, READ_CHARS_MAX).trim();
}

function partText(part: Part): string {
  return "text" in part ? part.text : "";
}

function countAttachments(message: Message | undefined): Attachments {
  const parts = message === undefined || typeof message.content === "string" ? [] : message.content;
  const count = (type: Part["type"]): number => parts.filter((part) => part.type === type).length;
  return { images: count("input_image"), files: count("input_file"), audio: count("input_audio") };
}

/** What stands around text from outside. */
const FENCE = /^<\/?result\b[^\n>]*>$/gm;
const SOURCE = /\b(?:web|file):[1-9]\d{0,5}\b/;

function latestOutputs(items: readonly ContextItem[]): ToolOutput[] {
  const lastMessage = items.findLastIndex(
    (item) => isMessage(item) && (item.role === "user" || item.role === "assistant"),
  );
  const tools = calledTools(items);
  return items.slice(lastMessage + 1).flatMap((item) => {
    if (item.type === "tool_search_output")
      return [{ tool: "tool_search", text: foundTools(item.tools), source: null }];
    if (!isToolOutput(item)) return clientOutput(item);
    const tool = tools.get(outputCallId(item)) ?? null;
    const text = outputText(item);
    if (item.type !== "hosted_output") return [{ tool, text, source: null }];
    return [{ tool, text: text.replaceAll(FENCE, "").trim(), source: SOURCE.exec(text)?.[0] ?? null }];
  });
}

/** What a tool returned that the client ran, such as a shell. */
function clientOutput(item: ContextItem): ToolOutput[] {
  const of = (tool: string, text: string): ToolOutput[] => [{ tool, text, source: null }];
  if (item.type === "computer_call_output") return of("computer", "[image]");
  if (item.type === "local_shell_call_output") return of("local_shell", item.output);
  if (item.type === "apply_patch_call_output") return of("apply_patch", item.output ?? item.status);
  if (item.type === "shell_call_output")
    return of("shell", item.output.flatMap(({ stdout, stderr }) => [stdout, stderr].filter(Boolean)).join("\n"));
  return [];
}

function foundTools(tools: Extract<InputItem, { type: "tool_search_output" }>["tools"]): string {
  return tools.map((tool) => ("name" in tool ? tool.name : tool.type)).join(", ");
}

/** Tool names by call id. If an id repeats, the first call counts. */
function calledTools(items: readonly ContextItem[]): ReadonlyMap<string, string> {
  const tools = new Map<string, string>();
  for (const item of items) {
    if (item.type !== "function_call" && item.type !== "custom_tool_call" && item.type !== "hosted_call") continue;
    const callId = item.type === "hosted_call" ? item.callId : item.call_id;
    if (!tools.has(callId)) tools.set(callId, item.name);
  }
  return tools;
}

function outputCallId(item: OutputItem): string {
  return item.type === "hosted_output" ? item.callId : (item.call_id ?? "");
}

export function outputText(item: OutputItem): string {
  if (item.type === "hosted_output") return [item.output, ...item.parts.map(shownPart)].filter(Boolean).join("\n");
  return typeof item.output === "string" ? item.output : item.output.map(shownPart).join("\n");
}

function shownPart(part: HostedOutput["parts"][number]): string {
  return part.type === "input_text" ? part.text : part.type === "input_image" ? "[image]" : "[file]";
}

import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedOutput } from "@antiphon/domain/models/hosted.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";

/** A longer message is cut here before it is read. */
const READ_CHARS_MAX = 100_000;

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
  /** The parts of the last user message. */
  readonly parts: readonly Part[];
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
  const userMessages = messages.filter(({ role }) => role === "user");
  const userTexts = userMessages.map(messageText);
  const content = userMessages.at(-1)?.content ?? "";
  const systemMessages = messages.filter(({ role }) => role === "system" || role === "developer");
  return {
    userTexts,
    text: userTexts.at(-1) ?? "",
    parts: typeof content === "string" ? [] : content,
    toolOutputs: latestOutputs(items),
    systemTexts: systemMessages.map(messageText),
  };
}

export function isMessage(item: ContextItem): item is Message {
  return "role" in item && "content" in item;
}

export function isToolOutput(item: ContextItem): item is OutputItem {
  return ["function_call_output", "custom_tool_call_output", "hosted_output"].includes(item.type ?? "");
}

function messageText({ content }: Message): string {
  const texts = typeof content === "string" ? [content] : content.map((part) => ("text" in part ? part.text : ""));
  return texts.filter(Boolean).join("\n").slice(0, READ_CHARS_MAX).trim();
}

/** What stands around text from outside. */
const FENCE = /^<\/?result\b[^\n>]*>$/gm;
const SOURCE = /\b(?:web|file):[1-9]\d{0,5}\b/;

function latestOutputs(items: readonly ContextItem[]): ToolOutput[] {
  const lastMessage = items.findLastIndex(
    (item) => isMessage(item) && (item.role === "user" || item.role === "assistant"),
  );
  const names = calledTools(items);
  return items.slice(lastMessage + 1).flatMap((item): ToolOutput[] => {
    if (!isToolOutput(item)) return clientOutput(item);
    const text = outputText(item);
    if (item.type !== "hosted_output") return [{ tool: names.get(item.call_id ?? "") ?? null, text, source: null }];
    const source = SOURCE.exec(text)?.[0] ?? null;
    return [{ tool: names.get(item.callId) ?? null, text: text.replaceAll(FENCE, "").trim(), source }];
  });
}

/** What a tool returned that the client ran, such as a shell. */
function clientOutput(item: ContextItem): ToolOutput[] {
  const said = (tool: string, text: string): ToolOutput[] => [{ tool, text, source: null }];
  if (item.type === "tool_search_output")
    return said("tool_search", item.tools.map((tool) => ("name" in tool ? tool.name : tool.type)).join(", "));
  if (item.type === "computer_call_output") return said("computer", "[image]");
  if (item.type === "local_shell_call_output") return said("local_shell", item.output);
  if (item.type === "apply_patch_call_output") return said("apply_patch", item.output ?? item.status);
  if (item.type !== "shell_call_output") return [];
  return said("shell", item.output.flatMap(({ stdout, stderr }) => [stdout, stderr].filter(Boolean)).join("\n"));
}

/** Tool names by call id. If an id repeats, the first call counts. */
function calledTools(items: readonly ContextItem[]): ReadonlyMap<string, string> {
  const calls = items.toReversed().flatMap((item): [string, string][] => {
    if (item.type === "hosted_call") return [[item.callId, item.name]];
    return item.type === "function_call" || item.type === "custom_tool_call" ? [[item.call_id, item.name]] : [];
  });
  return new Map(calls);
}

export function outputText(item: OutputItem): string {
  if (item.type === "hosted_output") return [item.output, ...item.parts.map(shownPart)].filter(Boolean).join("\n");
  return typeof item.output === "string" ? item.output : item.output.map(shownPart).join("\n");
}

function shownPart(part: HostedOutput["parts"][number]): string {
  return part.type === "input_text" ? part.text : part.type === "input_image" ? "[image]" : "[file]";
}

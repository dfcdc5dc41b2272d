import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedOutput } from "@antiphon/domain/models/hosted.ts";
import type { ContextItem, ModelRequest } from "@antiphon/domain/models/model-request.ts";

/** A longer message is cut here before it is read. */
const READ_CHARS_MAX = 100_000;

export interface ToolOutput {
  /** The tool's name; null if the context lacks its call. */
  readonly tool: string | null;
  readonly text: string;
  /** The id of a source that the output offers to cite, such as `web:1`; null if it offers none. */
  readonly source: string | null;
}

/** The parts of a request that the engine looks at. */
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
  /** The request's instructions and the developer messages. */
  readonly instructions: readonly string[];
}

type Message = Extract<InputItem, { role: string; content: unknown }>;
type Part = Exclude<Message["content"], string>[number];

export function readConversation({ items, instructions }: ModelRequest): Conversation {
  const messages = items.filter(isMessage);
  const userMessages = messages.filter(({ role }) => role === "user");
  const userTexts = userMessages.map(messageText);
  const content = userMessages.at(-1)?.content ?? "";
  const systemTexts = messages.filter(({ role }) => role === "system" || role === "developer").map(messageText);
  return {
    userTexts,
    text: userTexts.at(-1) ?? "",
    parts: typeof content === "string" ? [] : content,
    toolOutputs: latestOutputs(items),
    systemTexts,
    instructions: [...(instructions === null ? [] : [instructions]), ...systemTexts],
  };
}

export function isMessage(item: ContextItem): item is Message {
  return "role" in item && "content" in item;
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
    const text = outputText(item);
    if (text === null) return [];
    if (item.type === "function_call_output" || item.type === "custom_tool_call_output")
      return [{ tool: names.get(item.call_id ?? "") ?? null, text, source: null }];
    // Other tools of the client are named by the type of their output, such as `local_shell_call_output`.
    if (item.type !== "hosted_output")
      return [{ tool: (item.type ?? "").replace(/(?:_call)?_output$/, ""), text, source: null }];
    const source = SOURCE.exec(text)?.[0] ?? null;
    return [{ tool: names.get(item.callId) ?? null, text: text.replaceAll(FENCE, "").trim(), source }];
  });
}

/** Tool names by call id. If an id repeats, the first call counts. */
function calledTools(items: readonly ContextItem[]): ReadonlyMap<string, string> {
  const calls = items.toReversed().flatMap((item): [string, string][] => {
    if (item.type === "hosted_call") return [[item.callId, item.name]];
    return item.type === "function_call" || item.type === "custom_tool_call" ? [[item.call_id, item.name]] : [];
  });
  return new Map(calls);
}

/** What a tool returned; null for an item that is no output of a tool. */
export function outputText(item: ContextItem): string | null {
  if (item.type === "hosted_output") return [item.output, ...item.parts.map(shownPart)].filter(Boolean).join("\n");
  if (item.type === "function_call_output" || item.type === "custom_tool_call_output")
    return typeof item.output === "string" ? item.output : item.output.map(shownPart).join("\n");
  if (item.type === "tool_search_output")
    return item.tools.map((tool) => ("name" in tool ? tool.name : tool.type)).join(", ");
  if (item.type === "program_output") return item.result;
  if (item.type === "computer_call_output") return "[image]";
  if (item.type === "local_shell_call_output") return item.output;
  if (item.type === "apply_patch_call_output") return item.output ?? item.status;
  if (item.type !== "shell_call_output") return null;
  return item.output.flatMap(({ stdout, stderr }) => [stdout, stderr].filter(Boolean)).join("\n");
}

function shownPart(part: HostedOutput["parts"][number]): string {
  return part.type === "input_text" ? part.text : part.type === "input_image" ? "[image]" : "[file]";
}

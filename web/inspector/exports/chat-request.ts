import { hasMember, isMembers, listAt, type Members, membersAt, textAt } from "../base/members.ts";
import { inputOf, renamed } from "./door-members.ts";

/** The body of `POST /v1/chat/completions` that becomes this create request. */
export function chatRequestOf(request: Members): Members {
  const { tools, tool_choice: choice } = request;
  const text = membersAt(request, "text");
  return {
    model: request["model"],
    messages: chatMessages(inputOf(request)),
    ...(Array.isArray(tools) ? { tools: tools.map(chatTool) } : {}),
    ...(choice === undefined ? {} : { tool_choice: chatChoice(choice) }),
    ...(hasMember(text, "format") ? { response_format: chatFormat(membersAt(text, "format")) } : {}),
    ...(hasMember(text, "verbosity") ? { verbosity: text["verbosity"] } : {}),
    ...(hasMember(request["reasoning"], "effort") ? { reasoning_effort: textAt(request["reasoning"], "effort") } : {}),
    ...renamed(request, SETTINGS),
  };
}

/** The settings that both requests have, by their names in a create request. */
const SETTINGS: Readonly<Record<string, string>> = {
  parallel_tool_calls: "parallel_tool_calls",
  max_output_tokens: "max_completion_tokens",
  temperature: "temperature",
  top_p: "top_p",
  presence_penalty: "presence_penalty",
  frequency_penalty: "frequency_penalty",
  top_logprobs: "top_logprobs",
  service_tier: "service_tier",
  metadata: "metadata",
  prompt_cache_key: "prompt_cache_key",
  safety_identifier: "safety_identifier",
  user: "user",
};

type Draft = Record<string, unknown>;

function chatMessages(items: readonly Members[]): Draft[] {
  const messages: Draft[] = [];
  let reasoning = "";
  for (const item of items) {
    const type = textAt(item, "type");
    if (type === "reasoning") reasoning = reasoningText(item);
    else if (type === "message") {
      const isAnswer = item["role"] === "assistant";
      messages.push(chatMessage(item, isAnswer ? reasoning : ""));
      if (isAnswer) reasoning = "";
    } else if (type === "function_call" || type === "custom_tool_call") {
      lastAnswer(messages, reasoning).push(chatCall(item));
      reasoning = "";
    } else if (type.endsWith("_call_output")) messages.push(outputMessage(item));
  }
  return messages;
}

function reasoningText(item: Members): string {
  return [...listAt(item, "content"), ...listAt(item, "summary")].map((part) => textAt(part, "text")).join("\n\n");
}

function chatMessage(item: Members, reasoning: string): Draft {
  const { role, content } = item;
  const refusals = listAt(item, "content").filter((part) => textAt(part, "type") === "refusal");
  const parts = Array.isArray(content) ? content.filter((part) => !refusals.includes(part)).map(chatPart) : [];
  const [only] = parts;
  const isText = parts.length === 1 && textAt(only, "type") === "text";
  return {
    role,
    content: typeof content === "string" ? content : isText ? textAt(only, "text") : parts.length === 0 ? null : parts,
    ...(refusals.length === 0 ? {} : { refusal: refusals.map((part) => textAt(part, "refusal")).join("") }),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
  };
}

function chatPart(part: unknown): Members {
  const members = isMembers(part) ? part : {};
  switch (textAt(part, "type")) {
    case "input_text":
    case "output_text":
      return { type: "text", text: members["text"] };
    case "input_image":
      return {
        type: "image_url",
        image_url: {
          url: members["image_url"] ?? members["file_id"],
          ...(hasMember(members, "detail") && members["detail"] !== "auto" ? { detail: members["detail"] } : {}),
        },
      };
    case "input_file": {
      const { type: _, ...file } = members;
      return { type: "file", file };
    }
    default:
      return members;
  }
}

/** The calls of the last message, which is an answer. Adds one if there is none. */
function lastAnswer(messages: Draft[], reasoning: string): unknown[] {
  const last = messages.at(-1);
  if (last?.["role"] === "assistant") {
    const calls: unknown[] = Array.isArray(last["tool_calls"]) ? last["tool_calls"] : [];
    last["tool_calls"] = calls;
    return calls;
  }
  const calls: unknown[] = [];
  messages.push({
    role: "assistant",
    content: null,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    tool_calls: calls,
  });
  return calls;
}

function chatCall({ type, call_id: id, name, arguments: json, input }: Members): Members {
  return type === "function_call"
    ? { id, type: "function", function: { name, arguments: json } }
    : { id, type: "custom", custom: { name, input } };
}

function outputMessage({ call_id: id, output }: Members): Draft {
  return { role: "tool", tool_call_id: id, content: Array.isArray(output) ? output.map(chatPart) : output };
}

/** Tools of the server have the same form here. */
function chatTool(tool: unknown): unknown {
  if (!isMembers(tool)) return tool;
  const { type, format, ...called } = tool;
  if (type === "function") return { type, function: withoutLooseStrict(called) };
  if (type !== "custom") return tool;
  const { type: formatType, ...grammar } = membersAt(tool, "format");
  if (format === undefined) return { type, custom: called };
  return { type, custom: { ...called, format: formatType === "grammar" ? { type: formatType, grammar } : format } };
}

/** A function of a chat is not strict unless it says so. */
function withoutLooseStrict({ strict, ...called }: Members): Members {
  return strict === true ? { ...called, strict } : called;
}

function chatChoice(choice: unknown): unknown {
  if (!isMembers(choice)) return choice;
  const { type, ...members } = choice;
  if (type === "allowed_tools")
    return { type, allowed_tools: { ...members, tools: listAt(choice, "tools").map(chatChoice) } };
  return type === "function" || type === "custom" ? { type, [type]: members } : choice;
}

function chatFormat({ type, ...schema }: Members): Members {
  return type === "json_schema" ? { type, json_schema: schema } : { type };
}

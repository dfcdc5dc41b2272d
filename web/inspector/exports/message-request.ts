import { hasMember, isMembers, jsonOrUndefined, listAt, type Members, membersAt, textAt } from "../base/members.ts";
import { inputOf, renamed } from "./door-members.ts";

/** The body of `POST /v1/messages` that becomes this create request. */
export function messageRequestOf(request: Members): Members {
  const { model, instructions, max_output_tokens: tokensMax, tools, tool_choice: choice } = request;
  const effort = textAt(request["reasoning"], "effort");
  const format = membersAt(request["text"], "format");
  const servers = Array.isArray(tools) ? tools.filter(isMcp) : [];
  const output = {
    ...(effort === "" || effort === "none" ? {} : { effort }),
    ...(format["type"] === "json_schema" ? { format: { type: "json_schema", schema: format["schema"] } } : {}),
  };
  return {
    model,
    max_tokens: tokensMax,
    ...(instructions === undefined ? {} : { system: instructions }),
    messages: turnsOf(inputOf(request)),
    ...(Array.isArray(tools) && tools.length > servers.length
      ? { tools: tools.filter((tool) => !isMcp(tool)).map(messageTool) }
      : {}),
    ...(servers.length === 0 ? {} : { mcp_servers: servers.map(messageServer) }),
    ...(choice === undefined ? {} : { tool_choice: messageChoice(choice, request["parallel_tool_calls"] === false) }),
    ...(effort === "none" ? { thinking: { type: "disabled" } } : {}),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    ...(hasMember(request, "safety_identifier") ? { metadata: { user_id: request["safety_identifier"] } } : {}),
    ...renamed(request, { temperature: "temperature", top_p: "top_p" }),
  };
}

interface Turn {
  readonly role: string;
  readonly content: unknown[];
}

/** Items become blocks, and blocks of one role in a row are one turn. */
function turnsOf(items: readonly Members[]): { readonly role: string; readonly content: unknown }[] {
  const turns: Turn[] = [];
  for (const item of items) {
    const role = roleOf(item);
    const last = turns.at(-1);
    const turn = last?.role === role ? last : { role, content: [] };
    if (turn !== last) turns.push(turn);
    turn.content.push(...blocksOf(item));
  }
  return turns.map(({ role, content }) => ({ role, content: onlyText(content) ?? content }));
}

/** A single text is written as people write it. */
function onlyText(content: readonly unknown[]): string | null {
  const [block] = content;
  return content.length === 1 && textAt(block, "type") === "text" ? textAt(block, "text") : null;
}

function roleOf(item: Members): string {
  if (textAt(item, "type").endsWith("_output")) return "user";
  if (textAt(item, "type") !== "message") return "assistant";
  const role = textAt(item, "role");
  return role === "developer" ? "system" : role;
}

function blocksOf(item: Members): unknown[] {
  const { type, call_id: id, name, content, output } = item;
  switch (type) {
    case "message":
      return typeof content === "string" ? [{ type: "text", text: content }] : listAt(item, "content").map(blockOf);
    case "function_call":
      return [{ type: "tool_use", id, name, input: jsonOrUndefined(textAt(item, "arguments")) ?? {} }];
    case "function_call_output":
      return [{ type: "tool_result", tool_use_id: id, content: Array.isArray(output) ? output.map(blockOf) : output }];
    case "reasoning": {
      const thinking = [...listAt(item, "content"), ...listAt(item, "summary")].map((part) => textAt(part, "text"));
      return [{ type: "thinking", thinking: thinking.join("\n\n"), signature: textAt(item, "encrypted_content") }];
    }
    default:
      return [item]; // A call of a tool of this server, as its item.
  }
}

function blockOf(part: unknown): unknown {
  const members = isMembers(part) ? part : {};
  switch (textAt(part, "type")) {
    case "input_text":
    case "output_text":
      return { type: "text", text: members["text"] };
    case "input_image":
      return { type: "image", source: sourceOf(members["image_url"], members["file_id"]) };
    case "input_file":
      return {
        type: "document",
        source: sourceOf(members["file_data"] ?? members["file_url"], members["file_id"]),
        ...(hasMember(members, "filename") ? { title: members["filename"] } : {}),
      };
    default:
      return part;
  }
}

function sourceOf(url: unknown, fileId: unknown): Members {
  if (typeof url !== "string") return { type: "file", file_id: fileId };
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return data === undefined ? { type: "url", url } : { type: "base64", media_type: mediaType, data };
}

function isMcp(tool: unknown): boolean {
  return textAt(tool, "type") === "mcp";
}

function messageServer(tool: unknown): Members {
  const allowed = isMembers(tool) ? tool["allowed_tools"] : undefined;
  return {
    type: "url",
    name: textAt(tool, "server_label"),
    url: textAt(tool, "server_url"),
    ...(allowed == null ? {} : { tool_configuration: { allowed_tools: allowed } }),
  };
}

/** Tools of this server that a message asks for by a type with a date. */
const SERVER_TOOLS: Readonly<Record<string, Members>> = {
  web_search: { type: "web_search_20250305", name: "web_search" },
  code_interpreter: { type: "code_execution_20250825", name: "code_execution" },
  tool_search: { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
};

function messageTool(tool: unknown): unknown {
  if (!isMembers(tool)) return tool;
  const { type, name, description, parameters, strict, defer_loading: isDeferred } = tool;
  if (type !== "function") return SERVER_TOOLS[textAt(tool, "type")] ?? tool;
  return {
    name,
    ...(description === undefined ? {} : { description }),
    input_schema: parameters,
    ...(strict === true ? { strict } : {}),
    ...(isDeferred === true ? { defer_loading: true } : {}),
  };
}

function messageChoice(choice: unknown, isSerial: boolean): Members {
  const serial = isSerial ? { disable_parallel_tool_use: true } : {};
  if (isMembers(choice)) return { type: "tool", name: choice["name"], ...serial };
  return choice === "none" ? { type: "none" } : { type: choice === "required" ? "any" : "auto", ...serial };
}

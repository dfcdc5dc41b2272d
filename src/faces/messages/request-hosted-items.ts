import { isRecord } from "@antiphon/base/json/records.ts";
import type { MessagesServerToolResultInput } from "@antiphon/contracts/messages/types.ts";
import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";
import { itemIdOfCall, openPageText } from "./server-blocks.ts";

/** A call of a tool of a server, as an earlier answer showed it. */
export interface ServerCall {
  readonly id: string;
  readonly name: string;
  /** The MCP server; null for other tools. */
  readonly server: string | null;
  readonly input: unknown;
}

/** Names no container: a message does not show which one ran the code. */
const NO_CONTAINER = "cntr_none";

/** The item that a call and its result stand for; null for one whose effect the request shows by itself. */
export function hostedItem(call: ServerCall, result: MessagesServerToolResultInput): InputItem | null {
  const { content } = result;
  switch (result.type) {
    case "web_search_tool_result":
      return webSearchItem(call, content);
    case "web_fetch_tool_result":
      return {
        type: "web_search_call",
        ...itemId(call, "ws"),
        status: isError(content) ? "failed" : "completed",
        action: { type: "open_page", url: memberText(call.input, "url") },
      };
    case "code_execution_tool_result":
    case "bash_code_execution_tool_result":
    case "text_editor_code_execution_tool_result":
      return {
        type: "code_interpreter_call",
        ...itemId(call, "ci"),
        status: isError(content) ? "failed" : "completed",
        code: codeText(call.input),
        container_id: NO_CONTAINER,
        outputs: [{ type: "logs", logs: printedText(content) }],
      };
    case "mcp_tool_result":
      return mcpItem(call, result);
    case "tool_search_tool_result":
      return null;
  }
}

function itemId({ id }: ServerCall, prefix: string): { id?: string } {
  const known = itemIdOfCall(id, prefix);
  return known === null ? {} : { id: known };
}

function webSearchItem(call: ServerCall, content: unknown): InputItem {
  const query = memberText(call.input, "query");
  const results = Array.isArray(content) ? content.filter(isRecord).map(searchResult) : [];
  return {
    type: "web_search_call",
    ...itemId(call, "ws"),
    status: isError(content) ? "failed" : "completed",
    action: { type: "search", query },
    ...(results.length === 0 ? {} : { results }),
  };
}

/** A found page with what the model saw of it, if this server found it. */
function searchResult(result: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const snippet = openPageText(memberText(result, "encrypted_content"));
  return {
    title: memberText(result, "title"),
    url: memberText(result, "url"),
    ...(snippet === null ? {} : { snippet }),
    published: typeof result["page_age"] === "string" ? result["page_age"] : null,
  };
}

function mcpItem(call: ServerCall, { content, is_error: failed }: MessagesServerToolResultInput): InputItem {
  return {
    type: "mcp_call",
    ...itemId(call, "mcp"),
    status: failed === true ? "failed" : "completed",
    name: call.name,
    server_label: call.server ?? "",
    arguments: JSON.stringify(call.input ?? {}),
    output: resultText(content),
  };
}

/** The code of any of the published tools that run some. */
function codeText(input: unknown): string {
  return memberText(input, "code") || memberText(input, "command") || JSON.stringify(input ?? {});
}

function printedText(content: unknown): string {
  if (!isRecord(content)) return "";
  const { stdout, stderr, error_code: errorCode } = content;
  return [stdout, stderr, errorCode].filter((text) => typeof text === "string" && text !== "").join("\n");
}

function resultText(content: unknown): string {
  if (typeof content === "string") return content;
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return blocks
    .map((block) => memberText(block, "text"))
    .filter((text) => text !== "")
    .join("\n");
}

function isError(content: unknown): boolean {
  return isRecord(content) && "error_code" in content;
}

function memberText(value: unknown, name: string): string {
  const text = isRecord(value) ? value[name] : undefined;
  return typeof text === "string" ? text : "";
}

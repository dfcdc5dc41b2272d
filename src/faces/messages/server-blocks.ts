import { isUtf8 } from "node:buffer";
import { jsonOrText } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type {
  MessagesBlock,
  MessagesMcpToolUseBlock,
  MessagesServerToolUsage,
  MessagesServerToolUseBlock,
  MessagesWebSearchResult,
} from "@antiphon/contracts/messages/types.ts";
import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";

/** A call of a tool of this server and its result. */
export type ServerExchange = readonly [
  use: MessagesServerToolUseBlock | MessagesMcpToolUseBlock,
  result: MessagesBlock,
];

type Item<Type> = Extract<OutputItem, { type: Type }>;

const DIRECT = { type: "direct" } as const;

/** The call and the result of an item of a tool of this server; null for an item that a message does not show. */
export function serverExchange(item: OutputItem): ServerExchange | null {
  if (item.type === "web_search_call")
    return item.action === undefined || item.action.type === "search" ? searchExchange(item) : pageExchange(item);
  if (item.type === "code_interpreter_call") return codeExchange(item);
  if (item.type === "mcp_call") return mcpExchange(item);
  return item.type === "tool_search_output" ? toolSearchExchange(item) : null;
}

function searchExchange({ id, status, action, results }: Item<"web_search_call">): ServerExchange {
  const useId = callIdOf(id);
  const search = action?.type === "search" ? action : null;
  const queries = search?.queries ?? [];
  const input = { query: search?.query ?? queries[0] ?? "", ...(queries.length > 1 ? { queries: [...queries] } : {}) };
  const content =
    status === "completed"
      ? (results ?? []).map(foundPage)
      : { type: "web_search_tool_result_error" as const, error_code: "unavailable" as const };
  return [
    { type: "server_tool_use", id: useId, name: "web_search", input, caller: DIRECT },
    { type: "web_search_tool_result", tool_use_id: useId, content, caller: DIRECT },
  ];
}

function foundPage(result: Readonly<Record<string, unknown>>): MessagesWebSearchResult {
  const url = textOr(result["url"], "");
  return {
    type: "web_search_result",
    url,
    title: textOr(result["title"], "") || url,
    page_age: typeof result["published"] === "string" ? result["published"] : null,
    encrypted_content: closedPageText(textOr(result["snippet"], "")),
  };
}

function pageExchange({ id, status, action }: Item<"web_search_call">): ServerExchange {
  const useId = callIdOf(id);
  const page = action?.type === "open_page" || action?.type === "find_in_page" ? action : null;
  const url = page?.url ?? "";
  const pattern = page?.type === "find_in_page" ? { pattern: page.pattern } : {};
  return [
    { type: "server_tool_use", id: useId, name: "web_fetch", input: { url, ...pattern }, caller: DIRECT },
    {
      type: "web_fetch_tool_result",
      tool_use_id: useId,
      caller: DIRECT,
      content:
        status === "completed"
          ? { type: "web_fetch_result", url, retrieved_at: null, content: UNREPEATED_PAGE }
          : { type: "web_fetch_tool_result_error", error_code: "unavailable" },
    },
  ];
}

const UNREPEATED_PAGE = {
  type: "document",
  source: { type: "text", media_type: "text/plain", data: "" },
  title: null,
  citations: null,
} as const;

function codeExchange({ id, status, code, outputs }: Item<"code_interpreter_call">): ServerExchange {
  const useId = callIdOf(id);
  const logs = (outputs ?? []).flatMap((output) => (output.type === "logs" ? [output.logs] : []));
  return [
    { type: "server_tool_use", id: useId, name: "code_execution", input: { code: code ?? "" }, caller: DIRECT },
    {
      type: "code_execution_tool_result",
      tool_use_id: useId,
      content: {
        type: "code_execution_result",
        stdout: logs.join("\n"),
        stderr: "",
        return_code: status === "completed" ? 0 : 1,
        content: [],
      },
    },
  ];
}

function mcpExchange({ id, name, server_label, arguments: json, output, error }: Item<"mcp_call">): ServerExchange {
  const useId = callIdOf(id);
  const text = output ?? (error === null ? "" : errorText(error));
  return [
    { type: "mcp_tool_use", id: useId, name, server_name: server_label, input: objectIn(json) },
    {
      type: "mcp_tool_result",
      tool_use_id: useId,
      is_error: error !== null,
      content: text === "" ? [] : [{ type: "text", text, citations: null }],
    },
  ];
}

function errorText(error: NonNullable<Item<"mcp_call">["error"]>): string {
  return typeof error === "string" ? error : JSON.stringify(error);
}

function toolSearchExchange({ id, execution, tools }: Item<"tool_search_output">): ServerExchange | null {
  if (execution !== "server") return null;
  const useId = callIdOf(id);
  const names = tools.flatMap((tool) => ("name" in tool ? [tool.name] : []));
  return [
    { type: "server_tool_use", id: useId, name: "tool_search_tool_bm25", input: {}, caller: DIRECT },
    {
      type: "tool_search_tool_result",
      tool_use_id: useId,
      content: {
        type: "tool_search_tool_search_result",
        tool_references: names.map((name) => ({ type: "tool_reference", tool_name: name })),
      },
    },
  ];
}

/** How often tools of this server searched and opened pages; null if they did neither. */
export function serverToolUsage(output: readonly OutputItem[]): MessagesServerToolUsage | null {
  const calls = output.filter((item) => item.type === "web_search_call");
  if (calls.length === 0) return null;
  const searches = calls.filter(({ action }) => action === undefined || action.type === "search").length;
  return { web_search_requests: searches, web_fetch_requests: calls.length - searches };
}

/** The arguments of a call. Text that is no JSON object is kept under a name of its own. */
export function objectIn(json: string): Record<string, unknown> {
  if (json === "") return {};
  const value = jsonOrText(json);
  return isRecord(value) ? { ...value } : { INVALID_JSON: json };
}

/** Names of calls begin as clients expect, and end as the ids of their items. */
function callIdOf(itemId: string): string {
  return itemId.replace(/^([a-z]+)_/, (_whole, prefix) => (prefix === "mcp" ? "mcptoolu_" : "srvtoolu_"));
}

/** The id of the item that a call stands for, with this prefix; null for calls of other servers. */
export function itemIdOfCall(callId: string, prefix: string): string | null {
  const suffix = /^(?:srvtoolu|mcptoolu)_([0-9a-f]{32,64})$/.exec(callId)?.[1];
  return suffix === undefined ? null : `${prefix}_${suffix}`;
}

/** What the model saw of a page, in the form that clients send back. */
function closedPageText(text: string): string {
  return Buffer.from(text).toString("base64url");
}

/** The text again; null if another server wrote it. */
export function openPageText(closedText: string): string | null {
  if (!/^[\w-]+$/.test(closedText)) return null;
  const text = Buffer.from(closedText, "base64url");
  return text.toString("base64url") === closedText && isUtf8(text) ? text.toString() : null;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

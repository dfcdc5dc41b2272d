import { assertNever } from "@antiphon/base/assert.ts";
import type { InputItem } from "@antiphon/contracts/responses-api/types.ts";
import { invalidInput } from "../model-server/errors/model-errors.ts";
import { type Call, callOutput, type HistoryStep } from "./history.ts";
import { mapImage } from "./map-content.ts";
import { flatName } from "./tool-names.ts";

type Item<Type> = Extract<InputItem, { type: Type }>;

/** Items of tools unknown to chat completions. They become function calls with outputs, or a sentence. */
type HostedItem = Item<
  | "web_search_call"
  | "file_search_call"
  | "code_interpreter_call"
  | "image_generation_call"
  | "mcp_call"
  | "mcp_list_tools"
  | "mcp_approval_request"
  | "mcp_approval_response"
  | "computer_call"
  | "computer_call_output"
  | "local_shell_call"
  | "local_shell_call_output"
  | "shell_call"
  | "shell_call_output"
  | "apply_patch_call"
  | "apply_patch_call_output"
  | "tool_search_call"
  | "tool_search_output"
  | "program"
  | "program_output"
  | "agent_message"
  | "multi_agent_call"
  | "multi_agent_call_output"
>;

/** The call id of a tool search and its output if they have none. */
const TOOL_SEARCH_CALL_ID = "tool_search";

export function readHostedItem(item: HostedItem, path: string): readonly HistoryStep[] {
  switch (item.type) {
    case "web_search_call":
      return [readWebSearch(item)];
    case "file_search_call":
      return readFileSearch(item, path);
    case "code_interpreter_call":
      return pair(item.id ?? path, "code_interpreter", { code: item.code ?? "" }, readInterpreterOutputs(item));
    case "image_generation_call":
      return [note(`[Generated a picture${quoteText(item.revised_prompt)}]`)];
    case "mcp_call":
      return readMcpCall(item, path);
    case "mcp_list_tools":
      return [note(`[The MCP server ${item.server_label} offers: ${item.tools.map((tool) => tool.name).join(", ")}]`)];
    case "mcp_approval_request":
      return [
        note(`[Asked for approval to call ${item.name} of the MCP server ${item.server_label} with ${item.arguments}]`),
      ];
    case "mcp_approval_response":
      return [{ type: "user", content: `[${item.approve ? "Approved" : "Denied"} the call${quoteText(item.reason)}]` }];
    case "computer_call":
      return [clientCall(item, item.call_id, "computer", { actions: computerActions(item) })];
    case "computer_call_output":
      return [readScreen(item, path)];
    case "local_shell_call":
      return [clientCall(item, item.id ?? item.call_id, "local_shell", item.action)];
    case "local_shell_call_output":
      // Its id is that of the call's item, not the call id.
      return [callOutput(item.id ?? item.call_id ?? "", item.output)];
    case "shell_call":
      return [clientCall(item, item.call_id, "shell", item.action)];
    case "shell_call_output":
      return [callOutput(item.call_id, JSON.stringify(item.output))];
    case "apply_patch_call":
      return [clientCall(item, item.call_id, "apply_patch", item.operation)];
    case "apply_patch_call_output":
      return [callOutput(item.call_id, item.output ?? item.status)];
    case "tool_search_call":
      return [readToolSearch(item)];
    case "tool_search_output":
      return [callOutput(item.call_id ?? TOOL_SEARCH_CALL_ID, JSON.stringify({ tools: namesOf(item.tools) }))];
    case "program":
      return [{ ...call(item.call_id, "program", { code: item.code }), defaultOutput: "The program did not end." }];
    case "program_output":
      return [callOutput(item.call_id, item.result)];
    case "agent_message":
      return [readAgentMessage(item, path)];
    case "multi_agent_call":
      return [{ type: "call", callId: item.call_id, name: item.action, arguments: item.arguments }];
    case "multi_agent_call_output":
      return [callOutput(item.call_id, item.output.map((part) => part.text).join("\n"))];
    default:
      return assertNever(item);
  }
}

/** A search that a server ran may lack its output, so it has a default one. */
function readToolSearch({ call_id: callId, execution, arguments: args }: Item<"tool_search_call">): Call {
  const search = call(callId ?? TOOL_SEARCH_CALL_ID, "tool_search", args);
  const isByClient = execution === "client" || (execution == null && callId != null);
  return isByClient ? search : { ...search, defaultOutput: "The tools that were found were not kept." };
}

function readScreen(item: Item<"computer_call_output">, path: string): HistoryStep {
  const picture = mapImage(item.output, `${path}.output`);
  return callOutput(item.call_id, "", [picture], "The screen follows in the next message.");
}

function readFileSearch(item: Item<"file_search_call">, path: string): readonly HistoryStep[] {
  return pair(item.id ?? path, "file_search", { queries: item.queries }, item.results ?? "The results were not kept.");
}

function computerActions({ action, actions }: Item<"computer_call">): readonly unknown[] {
  return actions ?? (action === null || action === undefined ? [] : [action]);
}

function namesOf(tools: Item<"tool_search_output">["tools"]): readonly string[] {
  return tools.map((tool) => ("name" in tool ? tool.name : tool.type));
}

function readWebSearch(item: Item<"web_search_call">): HistoryStep {
  const { action } = item;
  if (action === null || action === undefined) return note("[Searched the web]");
  switch (action.type) {
    case "search":
      return note(
        `[Searched the web${quoteText(action.query ?? action.queries?.join(", "))}${item.results === null || item.results === undefined ? "" : `: ${JSON.stringify(item.results)}`}]`,
      );
    case "open_page":
      return note(`[Opened the page ${action.url ?? ""}]`);
    case "find_in_page":
      return note(`[Looked in the page ${action.url}${quoteText(action.pattern)}]`);
    default:
      return assertNever(action);
  }
}

function readInterpreterOutputs(item: Item<"code_interpreter_call">): string {
  const { outputs } = item;
  if (outputs === null || outputs === undefined) return "The outputs were not kept.";
  return outputs.map((output) => (output.type === "logs" ? output.logs : `[picture at ${output.url}]`)).join("\n");
}

function readMcpCall(item: Item<"mcp_call">, path: string): readonly HistoryStep[] {
  const callId = item.id ?? path;
  const failure = item.error === null || item.error === undefined ? "" : `Failed: ${JSON.stringify(item.error)}`;
  return [
    {
      type: "call",
      callId,
      name: flatName(item.server_label, item.name),
      arguments: item.arguments === "" ? "{}" : item.arguments,
    },
    callOutput(callId, item.output ?? failure),
  ];
}

function readAgentMessage(item: Item<"agent_message">, path: string): HistoryStep {
  const texts = item.content.map((part, position) => {
    if (part.type === "input_text") return part.text;
    const partPath = `${path}.content[${position}]`;
    throw invalidInput(
      `Invalid '${partPath}': content of type '${part.type}' is not available with this model server.`,
      partPath,
      "unsupported_value",
    );
  });
  return { type: "user", content: `[${item.author} to ${item.recipient}] ${texts.join("\n")}` };
}

function pair(callId: string, name: string, args: unknown, output: unknown): readonly HistoryStep[] {
  return [call(callId, name, args), callOutput(callId, typeof output === "string" ? output : JSON.stringify(output))];
}

function call(callId: string, name: string, args: unknown): Call {
  return { type: "call", callId, name, arguments: JSON.stringify(args) };
}

/** An incomplete call needs no output. */
function clientCall(
  { type, status }: Item<"computer_call" | "local_shell_call" | "shell_call" | "apply_patch_call">,
  callId: string,
  name: string,
  args: unknown,
): Call {
  const isUnfinished = status === "incomplete" || (type === "apply_patch_call" && status === "in_progress");
  const toolCall = call(callId, name, args);
  return isUnfinished ? { ...toolCall, defaultOutput: "The call was not finished, so nothing was run." } : toolCall;
}

function note(text: string): HistoryStep {
  return { type: "assistant_text", text };
}

function quoteText(text: string | null | undefined): string {
  return text === null || text === undefined || text === "" ? "" : ` for "${text}"`;
}

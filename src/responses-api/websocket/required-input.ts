import type { OutputItem, SteerRequiredInput } from "@antiphon/contracts/responses-api/types.ts";

/** What a client owes after a response: the results of its calls, and its decisions on approvals. */
export function requiredInput(output: readonly OutputItem[]): SteerRequiredInput[] {
  const answeredIds = new Set(output.flatMap((item) => (item.type.endsWith("_output") ? (callIdOf(item) ?? []) : [])));
  return output.flatMap((item) => {
    const callId = callIdOf(item);
    return callId !== null && answeredIds.has(callId) ? [] : owedFor(item);
  });
}

function callIdOf(item: OutputItem): string | null {
  return "call_id" in item && typeof item.call_id === "string" ? item.call_id : null;
}

function owedFor(item: OutputItem): SteerRequiredInput[] {
  switch (item.type) {
    case "function_call":
      return [{ type: "function_call_output", call_id: item.call_id, name: item.name }];
    case "custom_tool_call":
    case "computer_call":
    case "shell_call":
    case "local_shell_call":
    case "apply_patch_call":
      return [{ type: `${item.type}_output`, call_id: item.call_id }];
    case "tool_search_call":
      return item.execution === "client" && item.call_id != null
        ? [{ type: "tool_search_output", call_id: item.call_id, execution: "client" }]
        : [];
    case "mcp_approval_request":
      return [{ type: "mcp_approval_response", approval_request_id: item.id }];
    default:
      return [];
  }
}

import type { OutputItem, SteerRequiredInput } from "@antiphon/contracts/responses-api/types.ts";

/** What a client owes after a response: the results of its calls, and its decisions on approvals. */
export function requiredInput(output: readonly OutputItem[]): SteerRequiredInput[] {
  const answeredIds = new Set(
    output.flatMap((item) => (item.type.endsWith("_output") ? (outputCallId(item) ?? []) : [])),
  );
  return output.flatMap((item) => {
    const callId = outputCallId(item);
    return callId !== null && answeredIds.has(callId) ? [] : owedFor(item);
  });
}

function outputCallId(item: OutputItem): string | null {
  return "call_id" in item && typeof item.call_id === "string" ? item.call_id : null;
}

type CallOutputType = Exclude<
  SteerRequiredInput["type"],
  "function_call_output" | "tool_search_output" | "mcp_approval_response"
>;

/** The types of calls that are answered by their id alone, with the types of their outputs. */
const OUTPUT_TYPES: Readonly<Record<string, CallOutputType>> = {
  custom_tool_call: "custom_tool_call_output",
  computer_call: "computer_call_output",
  shell_call: "shell_call_output",
  local_shell_call: "local_shell_call_output",
  apply_patch_call: "apply_patch_call_output",
};

function owedFor(item: OutputItem): SteerRequiredInput[] {
  const callId = outputCallId(item);
  if (item.type === "mcp_approval_request") return [{ type: "mcp_approval_response", approval_request_id: item.id }];
  if (callId === null) return [];
  if (item.type === "function_call") return [{ type: "function_call_output", call_id: callId, name: item.name }];
  if (item.type === "tool_search_call")
    return item.execution === "client" ? [{ type: "tool_search_output", call_id: callId, execution: "client" }] : [];
  const type = OUTPUT_TYPES[item.type];
  return type === undefined ? [] : [{ type, call_id: callId }];
}

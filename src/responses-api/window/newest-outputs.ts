import type { ContextItem } from "@antiphon/domain/models/model-request.ts";

const OUTPUT_TYPES: ReadonlySet<ContextItem["type"]> = new Set([
  "hosted_output",
  "function_call_output",
  "custom_tool_call_output",
  "computer_call_output",
  "local_shell_call_output",
  "shell_call_output",
  "apply_patch_call_output",
  "tool_search_output",
]);

/** The index at which the results of the latest turn begin; the length of the context if it ends with another item. */
export function newestOutputsStart(items: readonly ContextItem[]): number {
  return items.findLastIndex(({ type }) => !OUTPUT_TYPES.has(type)) + 1;
}

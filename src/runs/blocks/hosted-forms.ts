import type { OutputItem } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedItem } from "@antiphon/domain/models/hosted.ts";

/** How an item ended. `incomplete`: the run ended or the call was cut before the item was complete. */
export type ItemEnd = "whole" | "failed" | "incomplete";

/** Derives from an item's last form how it ended. */
export function endOfItem(item: HostedItem): ItemEnd {
  if (item.type === "mcp_list_tools") return item.error === undefined || item.error === null ? "whole" : "failed";
  if (!("status" in item)) return "whole";
  if (item.status === "failed") return "failed";
  return item.status === "completed" ? "whole" : "incomplete";
}

/** Shown to the client for a tool list that the run did not await. */
const LIST_CUT = "The response ended before the list arrived.";

/** The last form of an item that the run did not await. */
export function cutForm(item: HostedItem): HostedItem {
  if (item.type === "mcp_list_tools") return { ...item, error: LIST_CUT };
  if (item.type === "image_generation_call") return { ...item, status: "failed" };
  // These have no status for an incomplete item.
  if (item.type === "mcp_approval_request" || item.type === "apply_patch_call" || item.type === "program") return item;
  return { ...item, status: "incomplete" };
}

/** The texts of an item that are sent as deltas, in order. */
export function textsIn(item: HostedItem): readonly string[] {
  if (item.type === "mcp_call") return [item.arguments];
  if (item.type === "shell_call") return item.action.commands;
  if (item.type === "code_interpreter_call") return item.code === null ? [] : [item.code];
  return item.type === "apply_patch_call" && "diff" in item.operation ? [item.operation.diff] : [];
}

/** Whether the item is a client call that is incomplete. */
export function isUnfinishedCall(item: OutputItem): boolean {
  if (item.type === "shell_call")
    return item.status === "incomplete" && item.environment?.type !== "container_reference";
  // The contract has no status for an incomplete one.
  if (item.type === "apply_patch_call") return item.status === "in_progress";
  return (item.type === "local_shell_call" || item.type === "computer_call") && item.status === "incomplete";
}

/**
 * The item with the texts shown so far. An incomplete call contains nothing that could be run, because clients may run
 * a call whatever its status is.
 */
export function withTexts(item: HostedItem, texts: readonly string[]): HostedItem {
  if (!isUnfinishedCall(item)) return fillItem(item, texts);
  return fillItem(item, item.type === "shell_call" ? [] : [""]);
}

function fillItem(item: HostedItem, texts: readonly string[]): HostedItem {
  if (item.type === "shell_call") return { ...item, action: { ...item.action, commands: [...texts] } };
  const [text] = texts;
  if (text === undefined) return item;
  if (item.type === "mcp_call") return { ...item, arguments: text };
  if (item.type === "code_interpreter_call") return { ...item, code: text };
  return item.type === "apply_patch_call" && "diff" in item.operation
    ? { ...item, operation: { ...item.operation, diff: text } }
    : item;
}

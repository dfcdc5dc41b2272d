import type { HostedItem } from "../ports.ts";

/** How an item ended. `incomplete`: the run ended, or the call was cut, before the item was whole. */
export type ItemEnd = "whole" | "failed" | "incomplete";

/** How the last form of an item says that it ended. */
export function endOfItem(item: HostedItem): ItemEnd {
  if (item.type === "mcp_list_tools") return item.error === undefined || item.error === null ? "whole" : "failed";
  if (!("status" in item)) return "whole";
  if (item.status === "failed") return "failed";
  return item.status === "completed" ? "whole" : "incomplete";
}

/** Told to the client about a list that the run did not wait for. */
const LIST_CUT = "The response ended before the list arrived.";

/** The last form of an item that the run did not wait for. */
export function cutForm(item: HostedItem): HostedItem {
  switch (item.type) {
    case "mcp_list_tools":
      return { ...item, error: LIST_CUT };
    case "image_generation_call":
      return { ...item, status: "failed" };
    case "mcp_approval_request": // Neither has a status for it.
    case "apply_patch_call":
      return item;
    default:
      return { ...item, status: "incomplete" };
  }
}

/** The texts of an item that deltas show, in order. */
export function textsIn(item: HostedItem): readonly string[] {
  switch (item.type) {
    case "mcp_call":
      return [item.arguments];
    case "code_interpreter_call":
      return item.code === null ? [] : [item.code];
    case "apply_patch_call":
      return "diff" in item.operation ? [item.operation.diff] : [];
    case "shell_call":
      return item.action.commands;
    default:
      return [];
  }
}

/** The item with the texts that were shown. */
export function withTexts(item: HostedItem, texts: readonly string[]): HostedItem {
  const [text] = texts;
  switch (item.type) {
    case "mcp_call":
      return text === undefined ? item : { ...item, arguments: text };
    case "code_interpreter_call":
      return text === undefined ? item : { ...item, code: text };
    case "apply_patch_call":
      return text === undefined || !("diff" in item.operation)
        ? item
        : { ...item, operation: { ...item.operation, diff: text } };
    case "shell_call":
      return { ...item, action: { ...item.action, commands: [...texts] } };
    default:
      return item;
  }
}

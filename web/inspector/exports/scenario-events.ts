import { jsonOrUndefined, listAt, type Members, membersAt, textAt } from "../base/members.ts";
import type { ShownItem } from "../items/fold-events.ts";
import { isToolCall } from "../items/item-title.ts";

/** A call of the model, as `call` or `custom_call` of a scenario. */
interface Call {
  readonly event: "call" | "custom_call";
  readonly members: Members;
}

/**
 * The events of a scenario, each a line of YAML, that make an engine give this item of a run. None for what no model
 * makes. The server cites what its own searches found.
 */
export function eventsOf(item: ShownItem, items: readonly ShownItem[]): string[] {
  const citesItself = items.some(({ type }) => /^(web|file)_search_call$/.test(type));
  if (item.type === "message") return listAt(item, "content").flatMap((part) => contentEvents(part, citesItself));
  if (item.type === "reasoning") return reasoningEvents(item);
  const call = callOf(item);
  return call === null ? [] : [`${call.event}: ${JSON.stringify(call.members)}`];
}

function contentEvents(part: unknown, citesItself: boolean): string[] {
  return [
    ...textEvent("text", textAt(part, "text")),
    ...textEvent("refusal", textAt(part, "refusal")),
    ...(citesItself ? [] : listAt(part, "annotations")).map(
      (annotation) => `annotation: ${JSON.stringify(annotation)}`,
    ),
  ];
}

function textEvent(name: string, text: string): string[] {
  return text === "" ? [] : [`${name}: ${JSON.stringify(text)}`];
}

function reasoningEvents(item: ShownItem): string[] {
  const summary = listAt(item, "summary").map((part) => textAt(part, "text"));
  if (summary.length > 0) return [`reasoning_summary: ${JSON.stringify(summary)}`];
  return listAt(item, "content").flatMap((part) => textEvent("reasoning", textAt(part, "text")));
}

function callOf(item: ShownItem): Call | null {
  const callId = textAt(item, "call_id");
  const called = (name: string, args: unknown): Call => ({
    event: "call",
    members: { name, arguments: args, ...(callId === "" ? {} : { call_id: callId }) },
  });
  switch (item.type) {
    case "function_call":
      return within(called(textAt(item, "name"), argumentsOf(item)), textAt(item, "namespace"));
    case "custom_tool_call":
      return {
        event: "custom_call",
        members: { name: textAt(item, "name"), input: textAt(item, "input"), call_id: callId },
      };
    case "mcp_call":
    case "mcp_approval_request":
      return within(called(textAt(item, "name"), argumentsOf(item)), textAt(item, "server_label"));
    case "web_search_call":
      return webCall(membersAt(item, "action"), called);
    case "file_search_call":
      return called("file_search", { queries: listAt(item, "queries") });
    case "code_interpreter_call":
      return called("code_interpreter", { code: textAt(item, "code") });
    case "image_generation_call":
      return called("generate_image", { prompt: textAt(item, "revised_prompt") || "As before." });
    case "tool_search_call":
      return called("tool_search", { query: listAt(membersAt(item, "arguments"), "paths").join(" ") });
    case "shell_call":
      return called("shell", { commands: listAt(membersAt(item, "action"), "commands") });
    case "local_shell_call":
      return called("local_shell", { command: listAt(membersAt(item, "action"), "command") });
    case "apply_patch_call":
      return called("apply_patch", { operation: membersAt(item, "operation") });
    case "computer_call":
      return called(
        "computer",
        item["actions"] === undefined ? { action: item["action"] } : { actions: item["actions"] },
      );
    default:
      return null;
  }
}

function within({ event, members }: Call, namespace: string): Call {
  return { event, members: namespace === "" ? members : { ...members, namespace } };
}

function webCall(action: Members, called: (name: string, args: unknown) => Call): Call {
  const url = textAt(action, "url");
  const queries = listAt(action, "queries");
  if (textAt(action, "type") === "open_page") return called("open_page", { url });
  if (textAt(action, "type") === "find_in_page")
    return called("find_in_page", { url, pattern: textAt(action, "pattern") });
  return called("web_search", { queries: queries.length > 0 ? queries : [textAt(action, "query")] });
}

function argumentsOf(item: ShownItem): unknown {
  return jsonOrUndefined(textAt(item, "arguments")) ?? textAt(item, "arguments");
}

/** Whether the server runs the call of this item itself and then asks the model again. */
export function isRunByServer(item: ShownItem, items: readonly ShownItem[]): boolean {
  if (!isToolCall(item) || item.type === "mcp_list_tools" || item.type === "mcp_approval_request") return false;
  if (item.type === "tool_search_call") return textAt(item, "execution") !== "client";
  if (item.type === "shell_call")
    return items.some(({ type, ...output }) => type === "shell_call_output" && output["call_id"] === item["call_id"]);
  return !/^(function|custom_tool|local_shell|apply_patch|computer)_call$/.test(item.type);
}

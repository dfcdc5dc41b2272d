import type { OutputItem, ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";

/** Events that change the content of one item. */
export type ItemEvent = Exclude<
  Extract<ResponseStreamEvent, { output_index: number }>,
  { type: "response.output_item.added" | "response.output_item.done" }
>;

/** Applies one event to an unfinished item, in place. Events that only report progress change nothing. */
export function growItem(item: OutputItem, event: ItemEvent): void {
  switch (item.type) {
    case "message":
      return growMessage(item, event);
    case "reasoning":
      return growReasoning(item, event);
    case "function_call":
    case "mcp_call":
      if (isArgumentsDelta(event)) item.arguments += event.delta;
      return;
    case "custom_tool_call":
      if (event.type === "response.custom_tool_call_input.delta") item.input += event.delta;
      return;
    case "code_interpreter_call":
      if (event.type === "response.code_interpreter_call_code.delta") item.code = (item.code ?? "") + event.delta;
      return;
    case "shell_call":
      return growShellCall(item, event);
    case "shell_call_output":
      if (event.type === "response.shell_call_output_content.done") item.output.push(...event.output);
      return;
    case "apply_patch_call":
      if (event.type === "response.apply_patch_call_operation_diff.delta" && "diff" in item.operation)
        item.operation.diff += event.delta;
      return;
    default:
      return;
  }
}

type ItemOf<T extends OutputItem["type"]> = Extract<OutputItem, { type: T }>;

function growMessage(item: ItemOf<"message">, event: ItemEvent): void {
  switch (event.type) {
    case "response.content_part.added":
    case "response.content_part.done":
      if (event.part.type !== "reasoning_text") item.content[event.content_index] = structuredClone(event.part);
      return;
    case "response.output_text.delta": {
      const part = item.content[event.content_index];
      if (part?.type === "output_text") part.text += event.delta;
      return;
    }
    case "response.output_text.annotation.added": {
      const part = item.content[event.content_index];
      if (part?.type === "output_text") part.annotations[event.annotation_index] = event.annotation;
      return;
    }
    case "response.refusal.delta": {
      const part = item.content[event.content_index];
      if (part?.type === "refusal") part.refusal += event.delta;
      return;
    }
    default:
      return;
  }
}

function growReasoning(item: ItemOf<"reasoning">, event: ItemEvent): void {
  switch (event.type) {
    case "response.reasoning_summary_part.added":
      item.summary[event.summary_index] = structuredClone(event.part);
      return;
    case "response.reasoning_summary_text.delta": {
      const part = item.summary[event.summary_index];
      if (part !== undefined) part.text += event.delta;
      return;
    }
    case "response.content_part.added":
      if (event.part.type === "reasoning_text") {
        item.content ??= [];
        item.content[event.content_index] = structuredClone(event.part);
      }
      return;
    case "response.reasoning_text.delta": {
      const part = item.content?.[event.content_index];
      if (part !== undefined) part.text += event.delta;
      return;
    }
    default:
      return;
  }
}

function growShellCall(item: ItemOf<"shell_call">, event: ItemEvent): void {
  if (event.type === "response.shell_call_command.added") item.action.commands[event.command_index] = event.command;
  if (event.type === "response.shell_call_command.delta") {
    item.action.commands[event.command_index] = (item.action.commands[event.command_index] ?? "") + event.delta;
  }
}

function isArgumentsDelta(
  event: ItemEvent,
): event is Extract<
  ItemEvent,
  { type: "response.function_call_arguments.delta" | "response.mcp_call_arguments.delta" }
> {
  return event.type === "response.function_call_arguments.delta" || event.type === "response.mcp_call_arguments.delta";
}

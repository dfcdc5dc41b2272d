import { type GrowingText, grow, NO_TEXT, wholeTextOf } from "@antiphon/base/growing-text.ts";
import type { CustomToolCall, FunctionCall } from "@antiphon/contracts/responses-api/types.ts";
import type { BlockEnd, UnnumberedEvent } from "../wire-event.ts";

/** A tool call that is still being streamed. The client runs the tool. */
export interface CallBlock {
  readonly kind: "call";
  readonly tool: "function" | "custom";
  readonly id: string;
  readonly index: number;
  readonly callId: string;
  readonly name: string;
  readonly namespace: string | null;
  /** The call id of the program that makes the call; null for the model's own calls. */
  readonly callerId: string | null;
  readonly text: GrowingText;
}

export function openCall(call: Omit<CallBlock, "kind" | "text">, events: UnnumberedEvent[]): CallBlock {
  const block: CallBlock = { kind: "call", ...call, text: NO_TEXT };
  events.push({
    type: "response.output_item.added",
    output_index: block.index,
    item: callItem(block, "", "in_progress"),
  });
  return block;
}

export function addCallText(block: CallBlock, delta: string, events: UnnumberedEvent[]): CallBlock {
  if (delta === "") return block;
  const place = { delta, item_id: block.id, output_index: block.index };
  events.push(
    block.tool === "function"
      ? { type: "response.function_call_arguments.delta", ...place }
      : { type: "response.custom_tool_call_input.delta", ...place },
  );
  return { ...block, text: grow(block.text, delta) };
}

export function closeCall(block: CallBlock, end: BlockEnd, events: UnnumberedEvent[]): FunctionCall | CustomToolCall {
  // Some model servers send no arguments for a function without parameters, but clients parse them as JSON.
  const empty = block.tool === "function" && end === "completed" && wholeTextOf(block.text).trim() === "";
  const closedBlock = empty ? addCallText(block, "{}", events) : block;
  const text = wholeTextOf(closedBlock.text);
  const place = { item_id: closedBlock.id, output_index: closedBlock.index };
  events.push(
    closedBlock.tool === "function"
      ? { type: "response.function_call_arguments.done", ...place, arguments: text, name: closedBlock.name }
      : { type: "response.custom_tool_call_input.done", ...place, input: text },
  );
  const item = callItem(closedBlock, text, end);
  events.push({ type: "response.output_item.done", output_index: closedBlock.index, item });
  return item;
}

function callItem(block: CallBlock, text: string, status: "in_progress" | BlockEnd): FunctionCall | CustomToolCall {
  const { callerId } = block;
  const more = {
    ...(block.namespace === null ? {} : { namespace: block.namespace }),
    ...(callerId === null ? {} : { caller: { type: "program" as const, caller_id: callerId } }),
  };
  // As in the reference, a program's call stays in progress until the client answers it.
  const isPending = callerId !== null && status === "completed";
  return block.tool === "function"
    ? {
        id: block.id,
        type: "function_call",
        status: isPending ? "in_progress" : status,
        arguments: text,
        call_id: block.callId,
        name: block.name,
        ...more,
      }
    : {
        id: block.id,
        type: "custom_tool_call",
        status,
        call_id: block.callId,
        input: text,
        name: block.name,
        ...more,
      };
}

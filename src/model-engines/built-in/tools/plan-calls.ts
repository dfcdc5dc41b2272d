import { isRecord } from "../../../base/json/records.ts";
import type { ModelEvent, ModelRequest } from "../../../runs/ports.ts";
import type { Conversation } from "../conversation.ts";
import { guessHints } from "../json/hints.ts";
import { makeValue } from "../json/make-value.ts";
import { sayDeltas } from "../say-text.ts";
import { chooseTool } from "./choose-tool.ts";
import { writeCustomInput } from "./custom-input.ts";
import { type OfferedCustomTool, type OfferedFunction, offeredTools } from "./offered-tools.ts";
import { oneTextParameter } from "./one-text-parameter.ts";

const PARALLEL_CALLS_MAX = 8;

/** The calls that the request forces or plainly asks for; none means an answer in words. */
export function planCalls(request: ModelRequest, { text, toolOutputs }: Conversation): ModelEvent[] {
  const tools = offeredTools(request.tools);
  const tool = chooseTool(request.toolChoice, tools, text, toolOutputs.length > 0);
  if (tool === null) return [];
  if (tool.kind === "custom") return sayCall(tool, writeCustomInput(tool.grammar, text));
  if (tool.kind === "tool_search") {
    const value = callValue(tool.parameters, guessHints(text));
    return [{ type: "tool_search", callId: null, arguments: isRecord(value) ? value : {} }];
  }
  return callArguments(tool, text, request.parallelToolCalls).flatMap((value) => sayCall(tool, JSON.stringify(value)));
}

/**
 * One call, or one for each of several values that the message names for a function of one text: "weather in Paris and
 * London".
 */
function callArguments(tool: OfferedFunction, text: string, parallel: boolean): unknown[] {
  const hints = guessHints(text);
  const values = hints.series.slice(0, PARALLEL_CALLS_MAX);
  const several = parallel && values.length > 1 && oneTextParameter(tool.parameters);
  if (!several) return [callValue(tool.parameters, hints)];
  return values.map((value) => callValue(tool.parameters, { ...hints, chosen: value }));
}

/** Arguments are an object whatever the schema leaves open. */
function callValue(parameters: unknown, hints: ReturnType<typeof guessHints>): unknown {
  return makeValue({ type: "object", ...(typeof parameters === "object" ? parameters : {}) }, hints);
}

function sayCall(tool: OfferedFunction | OfferedCustomTool, input: string): ModelEvent[] {
  const { kind, name, namespace } = tool;
  return [
    { type: "call_started", kind, callId: null, name, ...(namespace === null ? {} : { namespace }) },
    ...sayDeltas("call_delta", input),
    { type: "call_finished" },
  ];
}

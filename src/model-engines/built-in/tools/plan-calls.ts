import { isRecord } from "../../../base/json/records.ts";
import type { ModelEvent } from "../../../runs/ports/model-events.ts";
import type { ModelRequest } from "../../../runs/request/model-request.ts";
import type { Conversation } from "../conversation.ts";
import { guessHints } from "../json/hints.ts";
import { makeValue } from "../json/make-value.ts";
import { writePattern } from "../json/write-pattern.ts";
import { sayDeltas } from "../say-text.ts";
import { chooseTool } from "./choose-tool.ts";
import { writeSentence } from "./lark-sentence.ts";
import { type OfferedCustomTool, type OfferedFunction, offeredTools } from "./offered-tools.ts";

const PARALLEL_CALLS_MAX = 8;

/** The calls that the request forces or clearly asks for. If there are none, the answer is text. */
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
 * One call. For a function with one text parameter, one call for each value in the message: "weather in Paris and
 * London".
 */
function callArguments(tool: OfferedFunction, text: string, parallel: boolean): unknown[] {
  const hints = guessHints(text);
  const values = hints.series.slice(0, PARALLEL_CALLS_MAX);
  const several = parallel && values.length > 1 && oneTextParameter(tool.parameters);
  if (!several) return [callValue(tool.parameters, hints)];
  return values.map((value) => callValue(tool.parameters, { ...hints, chosen: value }));
}

/** Arguments are an object, even if the schema gives no type. */
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

/** Whether a function needs one free text and nothing else, so that several texts mean several calls. */
function oneTextParameter(parameters: unknown): boolean {
  if (!isRecord(parameters) || !isRecord(parameters["properties"])) return false;
  const properties = Object.entries(parameters["properties"]);
  const required = new Set<unknown>(Array.isArray(parameters["required"]) ? parameters["required"] : []);
  const needed = required.size > 0 ? properties.filter(([name]) => required.has(name)) : properties;
  const texts = needed.filter(([, schema]) => isFreeText(schema));
  const others = needed.filter(([, schema]) => !isFreeText(schema) && !mayBeAbsent(schema));
  return texts.length === 1 && others.length === 0;
}

function isFreeText(schema: unknown): boolean {
  return (
    isRecord(schema) && schema["type"] === "string" && schema["enum"] === undefined && schema["const"] === undefined
  );
}

/** Strict schemas require every member and let optional ones be null. An enumeration can default to its first value. */
function mayBeAbsent(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { type } = schema;
  return schema["enum"] !== undefined || (Array.isArray(type) && type.includes("null"));
}

const FENCED = /```[\w-]*\n(.*?)```/s;

/**
 * Input for a custom tool: with a grammar, a short text that fits it; otherwise the code block of the message, or the
 * whole message.
 */
export function writeCustomInput(grammar: OfferedCustomTool["grammar"], text: string): string {
  const plain = FENCED.exec(text)?.[1]?.trimEnd() ?? text;
  if (grammar === null) return plain;
  const written = grammar.syntax === "regex" ? writePattern(grammar.definition) : writeSentence(grammar.definition);
  // If the grammar is not understood, the message is sent, as by a model without grammar support.
  return written ?? plain;
}

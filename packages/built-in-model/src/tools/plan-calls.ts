import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { Conversation } from "../conversation.ts";
import { guessHints, type Hints } from "../json/hints.ts";
import { makeValue } from "../json/make-value.ts";
import { sayDeltas } from "../step.ts";
import { writePattern } from "../write-pattern.ts";
import { chooseTool } from "./choose-tool.ts";
import { writeSentence } from "./lark-sentence.ts";
import { type ListedTool, offeredTools } from "./offered-tools.ts";

const PARALLEL_CALLS_MAX = 8;

/** The calls that the request forces or clearly asks for. If there are none, the answer is text. */
export function planCalls(request: ModelRequest, { text, toolOutputs }: Conversation): ModelEvent[] {
  const tool = chooseTool(request.toolChoice, offeredTools(request.tools), text, toolOutputs.length > 0);
  if (tool === null) return [];
  const { kind, name, namespace, parameters, grammar } = tool;
  if (kind === "tool_search")
    return [{ type: "tool_search", callId: null, arguments: callArguments(parameters, guessHints(text)) }];
  const inputs =
    kind === "custom"
      ? [writeCustomInput(grammar, text)]
      : severalArguments(parameters, text, request.parallelToolCalls).map((value) => JSON.stringify(value));
  return inputs.flatMap((input): ModelEvent[] => [
    { type: "call_started", kind, callId: null, name, ...(namespace === null ? {} : { namespace }) },
    ...sayDeltas("call_delta", input),
    { type: "call_finished" },
  ]);
}

/**
 * The arguments of one call. For a function with one text parameter, one call for each value in the message: "weather
 * in Paris and London".
 */
function severalArguments(parameters: unknown, text: string, parallel: boolean): unknown[] {
  const hints = guessHints(text);
  const values = hints.series.slice(0, PARALLEL_CALLS_MAX);
  if (!parallel || values.length < 2 || !hasOneText(parameters)) return [callArguments(parameters, hints)];
  return values.map((chosen) => callArguments(parameters, { ...hints, chosen }));
}

/** Arguments are an object, even if the schema gives no type. */
function callArguments(parameters: unknown, hints: Hints): Readonly<Record<string, unknown>> {
  const value = makeValue({ type: "object", ...(isRecord(parameters) ? parameters : {}) }, hints);
  return isRecord(value) ? value : {};
}

/**
 * Whether a function needs one free text and nothing else, so that several texts mean several calls. Strict schemas
 * require every member and let optional ones be null. An enumeration can default to its first value.
 */
function hasOneText(parameters: unknown): boolean {
  if (!isRecord(parameters) || !isRecord(parameters["properties"])) return false;
  const properties = Object.entries(parameters["properties"]);
  const required = new Set<unknown>(Array.isArray(parameters["required"]) ? parameters["required"] : []);
  const needed = properties.filter(([name]) => required.size === 0 || required.has(name)).map(([, schema]) => schema);
  const others = needed.filter((schema) => !isRecord(schema) || !mayBeAbsent(schema));
  const [text] = others;
  return others.length === 1 && isRecord(text) && text["type"] === "string" && text["const"] === undefined;
}

function mayBeAbsent({ type, enum: values }: Readonly<Record<string, unknown>>): boolean {
  return values !== undefined || (Array.isArray(type) && type.includes("null"));
}

const FENCED = /```[\w-]*\n(.*?)```/s;

/**
 * Input for a custom tool: with a grammar, a short text that fits it; otherwise the code block of the message, or the
 * whole message.
 */
export function writeCustomInput(grammar: ListedTool["grammar"], text: string): string {
  const plain = FENCED.exec(text)?.[1]?.trimEnd() ?? text;
  if (grammar === null) return plain;
  const matchingText =
    grammar.syntax === "regex" ? writePattern(grammar.definition) : writeSentence(grammar.definition);
  // If the grammar is not understood, the message is sent, as by a model without grammar support.
  return matchingText ?? plain;
}

import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { Conversation } from "../conversation.ts";
import { guessHints, type Hints } from "../json/hints.ts";
import { makeValue } from "../json/make-value.ts";
import { callSteps } from "../step.ts";
import { splitTokens } from "../tokens.ts";
import { writePattern } from "../write-pattern.ts";
import { chooseTool } from "./choose-tool.ts";
import { writeSentence } from "./lark-sentence.ts";

const PARALLEL_CALLS_MAX = 8;
const FENCED = /```[\w-]*\n(.*?)```/s;

/** The calls that the request forces or clearly asks for. If there are none, the answer is text. */
export function planCalls(request: ModelRequest, { text, toolOutputs }: Conversation): ModelEvent[] {
  const chosen = chooseTool(request, text, toolOutputs.length > 0);
  if (chosen === null) return [];
  const { tool, name, namespace } = chosen;
  if (tool.type === "tool_search")
    return [{ type: "tool_search", callId: null, arguments: callArguments(tool.parameters, guessHints(text)) }];
  const kind = tool.type === "hosted_function" ? "hosted" : tool.type;
  const inputs =
    tool.type === "custom"
      ? [writeCustomInput(tool.format?.type === "grammar" ? tool.format : null, text)]
      : severalArguments(tool.parameters, text, request.parallelToolCalls).map((value) => JSON.stringify(value));
  return inputs.flatMap((input) => callSteps({ kind, callId: null, name, namespace }, splitTokens(input)));
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
  const required = new Set<unknown>(Array.isArray(parameters["required"]) ? parameters["required"] : []);
  const needed = Object.entries(parameters["properties"]).filter(([name, schema]) => {
    const { type, enum: values } = isRecord(schema) ? schema : {};
    const mayBeAbsent = values !== undefined || (Array.isArray(type) && type.includes("null"));
    return !mayBeAbsent && (required.size === 0 || required.has(name));
  });
  const [, text] = needed[0] ?? [];
  return needed.length === 1 && isRecord(text) && text["type"] === "string" && text["const"] === undefined;
}

/**
 * Input for a custom tool: with a grammar, a short text that fits it; otherwise the code block of the message, or the
 * whole message. If the grammar is not understood, the message is sent, as by a model without grammar support.
 */
export function writeCustomInput(
  grammar: Readonly<Record<"syntax" | "definition", string>> | null,
  text: string,
): string {
  const write = grammar?.syntax === "regex" ? writePattern : writeSentence;
  const fitting = grammar === null ? null : write(grammar.definition);
  return fitting ?? FENCED.exec(text)?.[1]?.trimEnd() ?? text;
}

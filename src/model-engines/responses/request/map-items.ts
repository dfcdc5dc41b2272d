import { assertNever } from "@antiphon/base/assert.ts";
import { eachInSlices } from "@antiphon/base/limits/slices.ts";
import type { HostedCall, HostedOutput } from "@antiphon/domain/models/hosted.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import { type HistoryStep, shortCallId } from "../../context/history.ts";
import { isHostedExchange, readableArguments, withLastPictures } from "../../context/hosted-exchanges.ts";
import { readItem } from "../../context/read-items.ts";
import { flatName, type ToolNames } from "../../context/tool-names.ts";
import { readSealedText } from "../sealed-text.ts";
import { mapParts, partOfChat } from "./map-parts.ts";
import type { WireItem } from "./responses-wire.ts";

/** The reference refuses longer call ids. */
const CALL_ID_CHARS_MAX = 64;

/** What becomes of the reasoning of earlier turns. */
export interface ReasoningRules {
  /** The key of the model server whose own reasoning is sent back; null if none is. */
  readonly server: string | null;
  /** Whether the server takes the text of other reasoning. */
  readonly acceptsText: boolean;
}

type Item<Type> = Extract<ContextItem, { type: Type }>;
type Message = Extract<ContextItem, { role: unknown; content: unknown }>;
type ToolOutput = Item<"function_call_output" | "custom_tool_call_output">;

/** Maps a context to input items. Throws `ModelError` for content that cannot be expressed, instead of dropping it. */
export async function mapItems(
  items: readonly ContextItem[],
  names: ToolNames,
  rules: ReasoningRules,
): Promise<readonly WireItem[]> {
  const input: WireItem[] = [];
  const defaultOutputs = new Map<WireItem, string>();
  await eachInSlices(withLastPictures(items), (item, position) => {
    for (const step of readNative(item, position, names, rules) ?? stepsOf(item, position)) {
      if (!isStep(step)) input.push(step);
      else for (const mappedItem of mapStep(step, defaultOutputs)) input.push(mappedItem);
    }
  });
  return withDefaultOutputs(withFollowedReasoning(input), defaultOutputs);
}

/** The items that the Responses API has in the same form; null for any other. */
function readNative(
  item: ContextItem,
  position: number,
  names: ToolNames,
  rules: ReasoningRules,
): readonly WireItem[] | null {
  if (isHostedExchange(item)) return [readHostedExchange(item, names, position)];
  if ("role" in item && "content" in item) return readNativeMessage(item, position);
  switch (item.type) {
    case "reasoning":
      return readReasoning(item, position, rules);
    case "custom_tool_call": {
      const name = flatName(item.namespace, item.name);
      return [{ type: "custom_tool_call", call_id: wireCallId(item.call_id), name, input: item.input }];
    }
    case "function_call_output":
    case "custom_tool_call_output":
      return [readOutput(item, `input[${position}].output`)];
    default:
      return null;
  }
}

/** Null for a message that is only a text. */
function readNativeMessage({ role, content, phase }: Message, position: number): readonly WireItem[] | null {
  if (typeof content === "string") return null;
  const phaseField = phase === null || phase === undefined ? {} : { phase };
  const isRefusal = content.some((part) => part.type === "refusal");
  if (role === "assistant" && isRefusal) {
    const parts = content.map((part) =>
      part.type === "refusal"
        ? ({ type: "refusal", refusal: part.refusal } as const)
        : ({ type: "output_text", text: "text" in part ? part.text : "", annotations: [] } as const),
    );
    return [{ role, content: parts, ...phaseField }];
  }
  if (role !== "user" || isRefusal) return null;
  const parts = content.flatMap((part) => {
    if (part.type === "refusal") return [];
    return part.type === "output_text" ? { type: "input_text" as const, text: part.text } : part;
  });
  return [{ role, content: mapParts(parts, `input[${position}].content`) }];
}

function readHostedExchange(item: HostedCall | HostedOutput, names: ToolNames, position: number): WireItem {
  const callId = wireCallId(item.callId);
  if (item.type === "hosted_call") {
    const name = names.nameOf({ kind: "hosted", name: item.name, namespace: item.server });
    return { type: "function_call", call_id: callId, name, arguments: readableArguments(item.arguments) };
  }
  const text = item.output === "" ? [] : [{ type: "input_text" as const, text: item.output }];
  const output = item.parts.length === 0 ? item.output : mapParts([...text, ...item.parts], `input[${position}].parts`);
  return { type: "function_call_output", call_id: callId, output };
}

function readOutput({ type, call_id: callId, output }: ToolOutput, path: string): WireItem {
  return {
    type,
    call_id: wireCallId(callId ?? ""),
    output: typeof output === "string" ? output : mapParts(output, path),
  };
}

/** The server gets back what it encrypted, otherwise the text if it takes any. */
function readReasoning(
  { id, summary, content, encrypted_content: sealedText }: Item<"reasoning">,
  position: number,
  { server, acceptsText }: ReasoningRules,
): readonly WireItem[] {
  const sealed = server === null ? null : readSealedText(server, sealedText);
  if (sealed !== null)
    return [{ type: "reasoning", id: sealed.id, summary, encrypted_content: sealed.encryptedContent }];
  const texts = content ?? [];
  if (!acceptsText || (texts.length === 0 && summary.length === 0)) return [];
  const told = texts.length === 0 ? { summary } : { summary: [], content: texts }; // A summary would repeat the text.
  return [{ type: "reasoning", id: id ?? `rs_${position}`, ...told }];
}

/** Items of other kinds, as calls with outputs or as sentences. */
function stepsOf(item: ContextItem, position: number): readonly (HistoryStep | WireItem)[] {
  if (isHostedExchange(item)) return [];
  const read = readItem(item, position);
  const steps = "type" in read ? [read] : read;
  if (!("role" in item && "content" in item)) return steps;
  const { role, phase } = item;
  const phaseField = phase === null || phase === undefined ? {} : { phase };
  return steps.map((step) =>
    "text" in step && step.type !== "call_output" ? { role, content: step.text, ...phaseField } : step,
  );
}

function isStep(step: HistoryStep | WireItem): step is HistoryStep {
  return "type" in step && (STEP_TYPES as readonly string[]).includes(step.type);
}

const STEP_TYPES = ["instruction", "user", "assistant_text", "call", "call_output"] as const;

function mapStep(step: HistoryStep, defaultOutputs: Map<WireItem, string>): readonly WireItem[] {
  switch (step.type) {
    case "instruction":
      return [{ role: "developer", content: step.text }];
    case "user":
      return [
        { role: "user", content: typeof step.content === "string" ? step.content : step.content.map(partOfChat) },
      ];
    case "assistant_text":
      return [{ role: "assistant", content: step.text }];
    case "reasoning": // Read before.
      return [];
    case "call": {
      const { name, arguments: input, defaultOutput } = step;
      const call: WireItem = {
        type: "function_call",
        call_id: wireCallId(step.callId),
        name,
        arguments: readableArguments(input),
      };
      if (defaultOutput !== undefined) defaultOutputs.set(call, defaultOutput);
      return [call];
    }
    case "call_output": {
      const output = step.parts.length === 0 ? step.text : step.parts.map(partOfChat);
      return [{ type: "function_call_output", call_id: wireCallId(step.callId), output }];
    }
    default:
      return assertNever(step);
  }
}

/** Without reasoning that no item of the model follows, which the reference refuses. Items may have been dropped. */
function withFollowedReasoning(input: readonly WireItem[]): readonly WireItem[] {
  let isFollowed = false;
  return input
    .toReversed()
    .filter((item) => {
      if ("type" in item && item.type === "reasoning") return isFollowed;
      isFollowed = "role" in item ? item.role === "assistant" : !item.type.endsWith("_output");
      return true;
    })
    .toReversed();
}

/** Adds outputs to calls that have none. */
function withDefaultOutputs(
  input: readonly WireItem[],
  defaultOutputs: ReadonlyMap<WireItem, string>,
): readonly WireItem[] {
  if (defaultOutputs.size === 0) return input;
  const answeredIds = new Set(input.flatMap((item) => ("output" in item ? [item.call_id] : [])));
  return input.flatMap((item): readonly WireItem[] => {
    const output = defaultOutputs.get(item);
    if (output === undefined || !("call_id" in item) || answeredIds.has(item.call_id)) return [item];
    return [item, { type: "function_call_output", call_id: item.call_id, output }];
  });
}

function wireCallId(callId: string): string {
  return shortCallId(callId, CALL_ID_CHARS_MAX);
}

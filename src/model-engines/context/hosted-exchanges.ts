import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import type { HostedCall, HostedOutput } from "@antiphon/domain/models/hosted.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import type { HistoryStep } from "./history.ts";
import { readToolOutput } from "./read-items.ts";
import type { ToolNames } from "./tool-names.ts";

/** The maximum of pictures that are shown again in each turn, the latest ones. */
const PICTURES_MAX = 4;

export function isHostedExchange(item: ContextItem): item is HostedCall | HostedOutput {
  return item.type === "hosted_call" || item.type === "hosted_output";
}

/** Reads a call of a hosted function, or its output, as the model made or saw it. */
export function readExchange(item: HostedCall | HostedOutput, names: ToolNames, position: number): HistoryStep {
  const { callId } = item;
  if (item.type === "hosted_call") {
    const name = names.nameOf({ kind: "hosted", name: item.name, namespace: item.server });
    return { type: "call", callId, name, arguments: readableArguments(item.arguments) };
  }
  if (item.parts.length === 0) return readToolOutput(callId, item.output, "");
  const text = item.output === "" ? [] : [{ type: "input_text" as const, text: item.output }];
  return readToolOutput(callId, [...text, ...item.parts], `input[${position}].parts`);
}

/** Many servers reject a history with invalid JSON arguments, which a model may have written. */
export function readableArguments(text: string): string {
  if (text.trim() === "") return "{}";
  return jsonOrUndefined(text) === undefined ? JSON.stringify({ unreadable: text }) : text;
}

/** The items with only the latest pictures of hosted functions, because pictures cost many tokens in each turn. */
export function withLastPictures(items: readonly ContextItem[]): readonly ContextItem[] {
  const count = items.reduce((sum, item) => sum + picturesIn(item), 0);
  if (count <= PICTURES_MAX) return items;
  let dropCount = count - PICTURES_MAX;
  return items.map((item) => {
    if (item.type !== "hosted_output" || dropCount === 0) return item;
    const parts = item.parts.map((part) => {
      if (part.type !== "input_image" || dropCount === 0) return part;
      dropCount -= 1;
      return { type: "input_text" as const, text: "[An older picture stood here. It is no longer shown.]" };
    });
    return { ...item, parts };
  });
}

function picturesIn(item: ContextItem): number {
  return item.type === "hosted_output" ? item.parts.filter(({ type }) => type === "input_image").length : 0;
}

import { cutResult } from "@antiphon/base/limits/cut-result.ts";
import type { ContextItem } from "@antiphon/domain/models/model-request.ts";
import { newestOutputsStart } from "./newest-outputs.ts";

/**
 * The items with the texts of their latest outputs shortened by `characters` in total, each by the same share. Null if
 * these texts have fewer characters.
 */
export function withShorterOutputs(items: readonly ContextItem[], characters: number): readonly ContextItem[] | null {
  const start = newestOutputsStart(items);
  const all = items.slice(start).reduce((sum, item) => sum + (outputText(item)?.length ?? 0), 0);
  if (all <= characters) return null;
  const share = 1 - characters / all;
  return items.map((item, place) => (place < start ? item : shorter(item, share)));
}

function shorter(item: ContextItem, share: number): ContextItem {
  const text = outputText(item);
  if (text === null || text === "") return item;
  const short = cutResult(text, Math.floor(text.length * share));
  const output = `${short.text}\n[${short.notice}]`;
  return holdsText(item) ? { ...item, output } : item;
}

function outputText(item: ContextItem): string | null {
  return holdsText(item) && typeof item.output === "string" ? item.output : null;
}

type TextOutput = Extract<ContextItem, { type: "hosted_output" | "function_call_output" | "custom_tool_call_output" }>;

function holdsText(item: ContextItem): item is TextOutput {
  const { type } = item;
  return type === "hosted_output" || type === "function_call_output" || type === "custom_tool_call_output";
}

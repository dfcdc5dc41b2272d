import type { ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import type { HostedItem } from "@antiphon/domain/models/hosted.ts";

/** An item whose calls can end as failed. */
type FailableItem = Extract<
  HostedItem,
  { type: "code_interpreter_call" | "file_search_call" | "image_generation_call" }
>;

/** The outcome of a failed call. `reason`: the text for the model. */
export function failedOutcome(item: FailableItem, reason: string): ToolOutcome {
  return { type: "ran", item: { ...item, status: "failed" }, output: reason, parts: [], sources: [] };
}

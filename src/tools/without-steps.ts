import type { ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import type { ToolStep } from "@antiphon/domain/models/hosted.ts";

/** Runs a call that shows nothing before its end. */
export async function* withoutSteps(
  outcome: ToolOutcome | Promise<ToolOutcome>,
): AsyncGenerator<ToolStep, ToolOutcome> {
  yield* [];
  return await outcome;
}

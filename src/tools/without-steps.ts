import type { ToolOutcome } from "../responses-api/hosted-tool.ts";
import type { ToolStep } from "../runs/ports.ts";

/** The run of a call that ends at once. */
export async function* withoutSteps(outcome: ToolOutcome): AsyncGenerator<ToolStep, ToolOutcome> {
  yield* [];
  return outcome;
}

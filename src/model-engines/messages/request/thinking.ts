import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { MessagesRequest, OutputConfig, Thinking } from "./messages-wire.ts";
import type { RequestForms } from "./request-forms.ts";

/**
 * What an effort becomes: `output_config.effort` beside adaptive thinking, and tokens to think with for models that
 * know only these. Without an effort both are left out, so that the model's default counts; `none` disables thinking.
 */
const EFFORTS: Readonly<Record<string, { readonly effort: string; readonly budgetTokens: number }>> = {
  minimal: { effort: "low", budgetTokens: 1_024 },
  low: { effort: "low", budgetTokens: 2_048 },
  medium: { effort: "medium", budgetTokens: 8_192 },
  high: { effort: "high", budgetTokens: 16_384 },
  xhigh: { effort: "xhigh", budgetTokens: 24_576 },
  max: { effort: "max", budgetTokens: 31_999 },
};
/** How much is thought if only a summary of it is asked for. */
const USUAL_BUDGET = 8_192;
/** The least that may be thought with; the answer itself is left as much. */
const BUDGET_TOKENS_MIN = 1_024;

/** Whether the choice of tools forces a call. Models do not think then. */
export function forcesCall({ toolChoice, tools }: Pick<ModelRequest, "toolChoice" | "tools">): boolean {
  if (tools.length === 0) return false;
  if (typeof toolChoice === "string") return toolChoice === "required";
  return toolChoice.type === "allowed_tools" ? toolChoice.mode === "required" : true;
}

/** How the model is to think; undefined if that is left to it. */
export function thinkingOf(
  request: Pick<ModelRequest, "reasoning" | "toolChoice" | "tools">,
  forms: RequestForms,
  maxTokens: number,
): Thinking | undefined {
  const { effort, summary } = request.reasoning;
  if (forms.thinking === "off" || !forms.mayThink) return undefined;
  if (effort === "none") return { type: "disabled" };
  if ((effort === null && summary === null) || forcesCall(request)) return undefined;
  if (forms.thinking === "adaptive") return { type: "adaptive", display: "summarized" };
  const wanted = EFFORTS[effort ?? ""]?.budgetTokens ?? USUAL_BUDGET;
  const budget = Math.min(wanted, maxTokens - BUDGET_TOKENS_MIN);
  return budget < BUDGET_TOKENS_MIN ? undefined : { type: "enabled", budget_tokens: budget };
}

/** The effort in the terms of this API; null if it is left to the model. */
export function effortOf(
  { reasoning: { effort } }: Pick<ModelRequest, "reasoning">,
  forms: RequestForms,
): OutputConfig["effort"] | null {
  if (effort === null || effort === "none" || !forms.effort) return null;
  return EFFORTS[effort]?.effort ?? effort;
}

/** Whether the model thinks for this request as far as is known: it then takes no temperature. */
export function thinks({ thinking }: Pick<MessagesRequest, "thinking">): boolean {
  return thinking !== undefined && thinking.type !== "disabled";
}

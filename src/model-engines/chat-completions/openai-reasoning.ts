import type { ReasoningDefaults } from "../../runs/ports.ts";

const STANDARD: ReasoningDefaults = { context: "current_turn", effort: "medium", mode: "standard" };

/** By the names of models, which may end in a date. Other models may not reason, or are not known. */
const DEFAULTS: readonly (readonly [names: RegExp, defaults: ReasoningDefaults])[] = [
  [/^(o1|o3|o3-mini|o4-mini|gpt-5|gpt-5-mini|gpt-5-nano|gpt-5\.5)(-\d{4}-\d\d-\d\d)?$/, STANDARD],
  [/^gpt-5\.[124](-mini|-nano)?(-\d{4}-\d\d-\d\d)?$/, { ...STANDARD, effort: "none" }],
  [/^gpt-5\.6(-[a-z]+)?(-\d{4}-\d\d-\d\d)?$/, { ...STANDARD, context: "all_turns" }],
];

/** How a model of OpenAI reasons where a request does not say it, as its own Responses API echoes it. */
export function openaiReasoning(model: string): ReasoningDefaults | null {
  return DEFAULTS.find(([names]) => names.test(model))?.[1] ?? null;
}

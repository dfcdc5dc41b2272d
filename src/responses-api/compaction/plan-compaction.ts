import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import { invalidValue, misplacedTrigger } from "../errors/parameter-errors.ts";

/**
 * `after`: compact after the answer, if the context has reached `threshold` tokens. `instead`: compact in place of an
 * answer.
 */
export type CompactionPlan = { readonly type: "after"; readonly threshold: number } | { readonly type: "instead" };

type AskedInput = CreateResponseRequest["input"];

/** The default threshold as a share of the model's window. The rest must fit the next question and its answer. */
const WINDOW_SHARE = 0.8;

/** Refuses unknown rules, and a `compaction_trigger` that is not the last element of the input. */
export function checkCompaction({ context_management: rules, input }: CreateResponseRequest): void {
  for (const [index, { type }] of (rules ?? []).entries())
    if (type !== "compaction") throw invalidValue(`context_management[${index}].type`, type, ["compaction"]);
  if (!Array.isArray(input)) return;
  const early = input.findIndex(({ type }, index) => type === "compaction_trigger" && index < input.length - 1);
  if (early !== -1) throw misplacedTrigger(`input[${early}]`);
}

/** Whether the request is for a compaction instead of an answer. */
export function asksForCompaction(input: AskedInput): boolean {
  return Array.isArray(input) && input.at(-1)?.type === "compaction_trigger";
}

/** Null if the request needs no compaction, or if it sets no threshold and the model's window is unknown. */
export async function planCompaction(
  engine: ModelEngine,
  request: CreateResponseRequest,
  signal: AbortSignal,
): Promise<CompactionPlan | null> {
  if (asksForCompaction(request.input)) return { type: "instead" };
  const rules = request.context_management ?? [];
  if (rules.length === 0) return null;
  const thresholds = rules.flatMap((rule) => rule.compact_threshold ?? []);
  if (thresholds.length > 0) return { type: "after", threshold: Math.min(...thresholds) };
  const window = await engine.contextWindow(request.model ?? "", signal);
  return window === null ? null : { type: "after", threshold: Math.floor(window * WINDOW_SHARE) };
}

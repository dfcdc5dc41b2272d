import type { Response } from "../../../generated/responses-api/types.ts";
import { type IdStem, stemFromId } from "../../base/ids.ts";
import type { RunPlan } from "../../runs/index.ts";
import type { ModelRequest, Owner, RecordedEvent } from "../../runs/ports.ts";
import type { CompactionPlan } from "../compaction/plan-compaction.ts";
import { sealScope } from "../input/resolve-input.ts";
import type { SpeechOutput } from "../ports.ts";
import type { Sealer } from "./seal.ts";

/**
 * What it takes to make one response, as plain JSON: a background response is begun again from it, by another process
 * if need be.
 */
export interface RunTask {
  readonly ids: IdStem;
  readonly rawReasoningAs: RunPlan["rawReasoningAs"];
  /** Whether reasoning items carry their text sealed. */
  readonly sealsReasoning: boolean;
  /** Stands in where the model server counts no tokens. */
  readonly inputTokensEstimate: number;
  readonly request: ModelRequest;
  /** How the answer is spoken; null if it is not. */
  readonly speech: SpeechOutput | null;
  readonly compaction: CompactionPlan | null;
}

/** The plan of a run that makes `response` by this task. */
export function planOf(task: PlanTask, response: Response, owner: Owner, sealer: Sealer): RunPlan {
  const { ids, rawReasoningAs, inputTokensEstimate } = task;
  const seal = (text: string, itemId: string): string => sealer.seal(text, itemId, sealScope(owner));
  return { response, ids, rawReasoningAs, inputTokensEstimate, sealReasoning: task.sealsReasoning ? seal : null };
}

/** The part of a task that a plan is made of. */
export type PlanTask = Pick<RunTask, "ids" | "rawReasoningAs" | "sealsReasoning" | "inputTokensEstimate">;

/** What a run that cannot be begun again tells of its task: enough to end it. */
export function endingTask(response: Response, events: readonly RecordedEvent[]): PlanTask {
  const sealsReasoning = events.some(({ event }) => "item" in event && "encrypted_content" in event.item);
  return { ids: stemFromId(response.id), rawReasoningAs: "text", sealsReasoning, inputTokensEstimate: 0 };
}

import { type IdStem, stemFromId } from "@antiphon/base/ids.ts";
import type { Response, RunKind } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { SpeechOutput } from "@antiphon/domain/speech.ts";
import type { RunPlan } from "../../runs/index.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import type { CompactionPlan } from "../compaction/plan-compaction.ts";
import { writeReasoningSecret } from "../input/reasoning-secret.ts";
import { sealScope } from "../input/resolve-input.ts";
import type { TaskTools } from "../offered-tools/task-tools.ts";
import type { Sealer } from "../seal.ts";

/** The task of a run, as plain JSON. A background response can be restarted from it, even by another process. */
export interface RunTask {
  readonly ids: IdStem;
  readonly reasoning: ShownReasoning;
  /** The input tokens of `usage` if the model server counts none. */
  readonly inputTokensEstimate: number;
  readonly request: ModelRequest;
  /** How to speak the answer; null if it is not spoken. */
  readonly speech: SpeechOutput | null;
  readonly compaction: CompactionPlan | null;
  /** The tool loop's part; null if the request has no tools of this server. */
  readonly tools: TaskTools | null;
  /**
   * How to treat an interrupted text that the model server cannot continue: it ends as incomplete and another one
   * follows, or the response fails. Null: `restart` in the background, `fail` in the foreground.
   */
  readonly interruption: "restart" | "fail" | null;
}

/** How the reasoning of the model is shown. */
export interface ShownReasoning {
  readonly rawAs: RunPlan["rawReasoningAs"];
  /** Whether its items include their sealed text. */
  readonly isSealed: boolean;
}

/** The plan of a run that makes `response` from this task. */
export function planOf(task: PlanTask, response: Response, owner: Owner, sealer: Sealer): RunPlan {
  const { ids, reasoning, inputTokensEstimate } = task;
  const seal = (text: string, itemId: string, sealedText: string | null): string =>
    sealer.seal(writeReasoningSecret({ text, sealedText }), itemId, sealScope(owner));
  return {
    response,
    ids,
    rawReasoningAs: reasoning.rawAs,
    inputTokensEstimate,
    sealReasoning: reasoning.isSealed ? seal : null,
  };
}

/** The part of a task that its plan needs. */
export type PlanTask = Pick<RunTask, "ids" | "reasoning" | "inputTokensEstimate">;

/** A partial task, derived from the events of a run that cannot be restarted. It is enough to end the run. */
export function endingTask(response: Response, events: readonly RecordedEvent[]): PlanTask {
  const isSealed = events.some(({ event }) => "item" in event && "encrypted_content" in event.item);
  return { ids: stemFromId(response.id), reasoning: { rawAs: "text", isSealed }, inputTokensEstimate: 0 };
}

/** The kind of the run that a request asks for. The request need not be valid. */
export function runKind(
  { background, stream }: { readonly background?: unknown; readonly stream?: unknown },
  isOnWebSocket: boolean,
): RunKind {
  if (background === true) return "background";
  if (isOnWebSocket) return "websocket";
  return stream === true ? "streamed" : "plain";
}

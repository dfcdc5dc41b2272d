import type { ModelEngine, ModelEvent, ModelRequest } from "../../runs/ports.ts";
import { keepWindow } from "../window/keep-window.ts";
import { compactTurn, turnIntoCompaction } from "./compact-turn.ts";
import type { CompactedContext } from "./compacted-context.ts";
import type { CompactionPlan } from "./plan-compaction.ts";
import { summaryRequest, takeSummary } from "./summary-turn.ts";

/** Of a run's task, what its compaction needs. */
export interface CompactedTask {
  readonly compaction: CompactionPlan | null;
  readonly request: ModelRequest;
  readonly inputTokensEstimate: number;
}

export interface CompactionScope {
  readonly engine: ModelEngine;
  readonly seal: (context: CompactedContext) => string;
  readonly onFault: (fault: unknown) => void;
  readonly signal: AbortSignal;
}

/** The turn of a task with the compaction that its task plans. */
export function withCompaction(
  turn: AsyncIterable<readonly ModelEvent[]>,
  { compaction, request, inputTokensEstimate }: CompactedTask,
  { engine, seal, onFault, signal }: CompactionScope,
): AsyncIterable<readonly ModelEvent[]> {
  if (compaction === null) return turn;
  if (compaction.type === "instead") return turnIntoCompaction(turn, seal);
  return compactTurn(turn, {
    seal,
    onFault,
    signal,
    inputTokensEstimate,
    threshold: compaction.threshold,
    summarize: async (answer) => {
      const asked = summaryRequest({ ...request, items: [...request.items, ...answer] });
      return takeSummary(engine, await keepWindow(engine, asked, signal), signal);
    },
  });
}

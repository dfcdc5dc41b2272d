import type { ModelEngine, ModelEvent } from "../runs/ports.ts";
import type { RunTask } from "./run-task.ts";

export interface TurnParts {
  readonly engine: ModelEngine;
}

/**
 * The model's answer to a task, with what this server adds to it on the way. Resolves once the model server has accepted the turn and
 * rejects with `ModelError` if it refused it; leaving the iteration, or aborting, ends everything that works for it.
 */
export function askModel(
  parts: TurnParts,
  task: RunTask,
  signal: AbortSignal,
): Promise<AsyncIterable<readonly ModelEvent[]>> {
  return parts.engine.sample(task.request, signal);
}

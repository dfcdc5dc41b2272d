import { idFromStem } from "../../base/ids.ts";
import type { ModelEngine, ModelEvent, Owner } from "../../runs/ports.ts";
import { sealCompaction } from "../compaction/compacted-context.ts";
import { withCompaction } from "../compaction/with-compaction.ts";
import { ownerText } from "../input/resolve-input.ts";
import type { RunTask } from "../keeping/run-task.ts";
import type { Sealer } from "../keeping/seal.ts";
import type { SpokenOutput } from "../ports.ts";

type Turn = AsyncIterable<readonly ModelEvent[]>;

export interface TurnParts {
  readonly engine: ModelEngine;
  readonly spokenOutput: SpokenOutput;
  readonly sealer: Sealer;
}

export interface TurnScope {
  readonly owner: Owner;
  /** Told what went wrong beside the answer, which goes on. */
  readonly onFault: (fault: unknown) => void;
}

/**
 * The model's answer to a task, with what this server adds to it on the way. Resolves once the model server has
 * accepted the turn and rejects with `ModelError` if it refused it; leaving the iteration, or aborting, ends everything
 * that works for it.
 */
export async function askModel(parts: TurnParts, task: RunTask, scope: TurnScope, signal: AbortSignal): Promise<Turn> {
  const { engine, sealer } = parts;
  const turn = await engine.sample(task.request, signal);
  const responseId = idFromStem("resp", task.ids, 0);
  const isAnswer = task.compaction?.type !== "instead"; // A summary is for a model's eyes only.
  const spoken = isAnswer ? withSpeech(turn, parts, task, signal) : turn;
  return withCompaction(spoken, task, {
    engine,
    seal: (context) => sealCompaction(context, sealer, responseId, ownerText(scope.owner)),
    onFault: scope.onFault,
    signal,
  });
}

function withSpeech(turn: Turn, { spokenOutput }: TurnParts, { ids, speech }: RunTask, signal: AbortSignal): Turn {
  if (speech === null) return turn;
  return spokenOutput.speak(turn, { responseId: idFromStem("resp", ids, 0), speech, signal });
}

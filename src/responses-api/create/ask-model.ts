import { idFromStem } from "../../base/ids.ts";
import type { ModelEvent, ModelRequest, Owner } from "../../runs/ports.ts";
import { compactTurn, turnIntoCompaction } from "../compaction/compact-turn.ts";
import { type CompactedContext, sealCompaction } from "../compaction/compacted-context.ts";
import { summaryRequest, takeSummary } from "../compaction/summary-turn.ts";
import { sealScope } from "../input/resolve-input.ts";
import type { RunTask } from "../keeping/run-task.ts";
import type { ResponseServices } from "../services.ts";
import { fitToWindow } from "../window/fit-to-window.ts";

type Turn = AsyncIterable<readonly ModelEvent[]>;

/** What asking for a turn takes of the services. */
export type TurnServices = Pick<ResponseServices, "engine" | "spokenOutput" | "sealer">;

/** The run that a turn is asked for. Its caller may be gone. */
export interface AskingRun {
  readonly owner: Owner;
  /** Told what went wrong beside the answer, which goes on. */
  readonly onFault: (fault: unknown) => void;
  /** Aborts when nobody wants the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * The model's answer to a task, with what this server adds to it on the way. Resolves once the model server has
 * accepted the turn and rejects with `ModelError` if it refused it; leaving the iteration, or aborting, ends everything
 * that works for it.
 */
export async function askModel(services: TurnServices, task: RunTask, run: AskingRun): Promise<Turn> {
  const turn = await services.engine.sample(task.request, run.signal);
  const isAnswer = task.compaction?.type !== "instead"; // A summary is for a model's eyes only.
  const spoken = isAnswer ? withSpeech(services, turn, task, run) : turn;
  return withCompaction(services, spoken, task, run);
}

function withSpeech({ spokenOutput }: TurnServices, turn: Turn, { ids, speech }: RunTask, { signal }: AskingRun): Turn {
  if (speech === null) return turn;
  return spokenOutput.speak(turn, { responseId: idFromStem("resp", ids, 0), speech, signal });
}

/** The turn with the compaction that its task plans. */
function withCompaction({ engine, sealer }: TurnServices, turn: Turn, task: RunTask, run: AskingRun): Turn {
  const { compaction, request, inputTokensEstimate } = task;
  if (compaction === null) return turn;
  const { owner, onFault, signal } = run;
  const responseId = idFromStem("resp", task.ids, 0);
  const seal = (context: CompactedContext): string => sealCompaction(context, sealer, responseId, sealScope(owner));
  if (compaction.type === "instead") return turnIntoCompaction(turn, seal);
  return compactTurn(turn, {
    seal,
    onFault,
    signal,
    inputTokensEstimate,
    threshold: compaction.threshold,
    summarize: async (answer) => {
      const asked = summaryRequest({ ...request, items: [...request.items, ...answer] });
      return takeSummary(engine, await fitToWindow(engine, asked, signal), signal);
    },
  });
}

/**
 * The turn of a response that answers nothing. The model is not asked; the count of its input finds what would be
 * refused unasked, and has the engine ready for the turns to come. Rejects with `ModelError` as asking would.
 */
export async function warmUp(
  { engine }: Pick<ResponseServices, "engine">,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Turn> {
  await engine.countTokens(request, signal);
  return silence();
}

async function* silence(): AsyncGenerator<readonly ModelEvent[]> {
  yield [
    { type: "usage", usage: NOTHING_USED },
    { type: "finished", reason: "stop" },
  ];
}

const NOTHING_USED = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };

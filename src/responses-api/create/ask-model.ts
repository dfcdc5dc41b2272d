import { recordExchanges } from "@antiphon/base/exchanges/exchange-recording.ts";
import { idFromStem } from "@antiphon/base/ids.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import type { SpokenOutput } from "@antiphon/domain/speech.ts";
import { compactTurn, turnIntoCompaction } from "../compaction/compact-turn.ts";
import { type CompactedContext, sealCompaction } from "../compaction/compacted-context.ts";
import { summaryRequest, takeSummary } from "../compaction/summary-turn.ts";
import type { ExchangeLog } from "../exchanges/exchange-log.ts";
import { sealScope } from "../input/resolve-input.ts";
import type { Sealer } from "../seal.ts";
import type { RunTask } from "../task/run-task.ts";
import type { ModelRetries } from "../tool-loop/attempts/model-retries.ts";
import { citeTurn } from "../tool-loop/citations/cite-turn.ts";
import { type LoopRun, NO_TOOLS, type ToolContext } from "../tool-loop/loop-parts.ts";
import { writesData } from "../tool-loop/offer-tools.ts";
import { fitRefused, fitRequest } from "../tool-loop/results/fit-request.ts";
import { runTools } from "../tool-loop/run-tools.ts";

type Turn = AsyncIterable<readonly ModelEvent[]>;

/** What turns of the model are made with. */
export interface AskContext {
  readonly engine: ModelEngine;
  readonly retries: ModelRetries;
  readonly tools: ToolContext;
  readonly store: Pick<ResponseStore, "findOutputs">;
  readonly spokenOutput: SpokenOutput;
  readonly sealer: Sealer;
  /** Null if exchanges with the model server are not kept. */
  readonly exchangeLog: ExchangeLog | null;
}

/** Asks for the turns of a run, as `askModel` does. */
export type AskTurns = (task: RunTask, run: AskingRun) => Promise<Turn>;

/** The run of a turn. Its caller may have left. */
export interface AskingRun {
  readonly owner: Owner;
  /** Aborts when the run ends or is stopped. */
  readonly signal: AbortSignal;
  /** Whether its tool calls are stored. */
  readonly isStored: boolean;
  readonly isBackground: boolean;
  readonly dropsOldest: LoopRun["dropsOldest"];
  /** Called before a tool changes anything: a crash must not hide that. Rejects if the run cannot be stored. */
  readonly storeNow: () => Promise<void>;
  readonly past: LoopRun["past"];
  readonly listener: LoopRun["listener"];
}

/**
 * Calls the model and adds this server's turn decorators: its tools, citations, speech and compaction. Resolves once
 * the model server has accepted the turn; rejects with `ModelError` if it or a tool refused. Leaving the iteration or
 * aborting stops all work for the turn.
 */
export async function askModel(context: AskContext, task: RunTask, run: AskingRun): Promise<Turn> {
  const { exchangeLog } = context;
  if (exchangeLog === null || !run.isStored) return await askDecorated(context, task, run);
  const recorder = exchangeLog.recorderFor(run.owner, idFromStem("resp", task.ids, 0));
  return await recordExchanges(recorder, () => askDecorated(context, task, run));
}

async function askDecorated(context: AskContext, task: RunTask, run: AskingRun): Promise<Turn> {
  const askedTurn = await withTools(context, task, run);
  const isAnswer = task.compaction?.type !== "instead"; // A summary is read by models only.
  const turn = isAnswer ? withSpeech(context.spokenOutput, askedTurn.turn, task, run) : askedTurn.turn;
  return withCompaction(context, { ...askedTurn, turn }, task, run);
}

interface AskedTurn {
  readonly turn: Turn;
  /** As in `ToolTurns`; null if the model is called once, without tools of this server. */
  readonly lastRequest: (() => ModelRequest) | null;
}

/**
 * The turn of the model, or all its turns with the work of this server's tools in between. A background run without
 * tools uses the same loop, because it survives failures and crashes.
 */
async function withTools(context: AskContext, task: RunTask, run: AskingRun): Promise<AskedTurn> {
  const { engine, retries, store, sealer } = context;
  const { catalogue, ledger: kept, observer } = context.tools;
  if (task.tools === null && !run.isBackground)
    return { turn: await askOnce(engine, task.request, run), lastRequest: null };
  const ledger = run.isStored ? kept : null;
  const { events, sources, lastRequest } = await runTools(
    { engine, retries, tools: catalogue, ledger, spending: kept, store, observer, sealer },
    { ...task, tools: task.tools ?? NO_TOOLS },
    { ...run, responseId: idFromStem("resp", task.ids, 0) },
  );
  return { turn: task.tools === null ? events : citeTurn(events, sources, writesData(task.request)), lastRequest };
}

/** Requests the turn, and then a shorter one if the model server refused it as too long. */
async function askOnce(
  engine: ModelEngine,
  request: ModelRequest,
  { dropsOldest, signal, listener }: AskingRun,
): Promise<Turn> {
  try {
    return await engine.sample(request, signal, undefined, listener.onAnsweredBy);
  } catch (refusal) {
    const rules = { dropsOldest, tools: null };
    const fittedRequest = await fitRefused(engine, request, rules, { refusal, signal });
    return await engine.sample(fittedRequest.request, signal, undefined, listener.onAnsweredBy);
  }
}

/** Sound that a crash interrupted ends there: how much of the text it had left to say is not known. */
function withSpeech(spokenOutput: SpokenOutput, turn: Turn, { ids, speech }: RunTask, run: AskingRun): Turn {
  const { signal } = run;
  const { shown } = run.past;
  if (speech === null) return turn;
  if (shown !== null && shown.sound !== "not begun") return shown.sound === "open" ? withoutSound(turn) : turn;
  return spokenOutput.speak(turn, { responseId: idFromStem("resp", ids, 0), speech, signal });
}

async function* withoutSound(turn: Turn): AsyncGenerator<readonly ModelEvent[]> {
  yield [{ type: "audio_done" }];
  yield* turn;
}

/** Adds the task's compaction. */
function withCompaction(
  { engine, sealer }: AskContext,
  { turn, lastRequest }: AskedTurn,
  task: RunTask,
  run: AskingRun,
): Turn {
  const { compaction, request, inputTokensEstimate } = task;
  if (compaction === null) return turn;
  const { owner, signal } = run;
  const responseId = idFromStem("resp", task.ids, 0);
  const seal = (context: CompactedContext): string => sealCompaction(context, sealer, responseId, sealScope(owner));
  if (compaction.type === "instead") return turnIntoCompaction(turn, seal);
  return compactTurn(turn, {
    seal,
    onFault: run.listener.onFault,
    signal,
    inputTokensEstimate,
    threshold: compaction.threshold,
    summarize: async (answer) => {
      const question = summaryRequest(lastRequest?.() ?? { ...request, items: [...request.items, ...answer] });
      const fitting = await fitRequest(engine, question, { dropsOldest: true, tools: null }, signal);
      return takeSummary(engine, fitting.request, signal);
    },
  });
}

/**
 * The turn of a warm-up, which has an empty answer. It only counts the input tokens. This detects requests that the
 * engine would refuse, and prepares the engine for later turns. Rejects with `ModelError` like a call of the model.
 */
export async function warmUp(engine: ModelEngine, request: ModelRequest, signal: AbortSignal): Promise<Turn> {
  await engine.countTokens(request, signal);
  return emptyAnswer();
}

async function* emptyAnswer(): AsyncGenerator<readonly ModelEvent[]> {
  yield [
    { type: "usage", usage: NO_USAGE },
    { type: "finished", reason: "stop" },
  ];
}

const NO_USAGE = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };

import { ToolNotOpened } from "@antiphon/domain/hosted-tool.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { approvedCalls, withOrigin } from "./approvals.ts";
import { Sources } from "./citations/sources.ts";
import { holdFunctions } from "./held-functions.ts";
import { failingTurn } from "./hosted-run.ts";
import type { LoopRun, LoopServices, ToolTask } from "./loop-parts.ts";
import { deferredTools } from "./offer-tools.ts";
import { openTools, type ToolSet } from "./open-tools.ts";
import { itemIds, resumedAt } from "./resume/resume-point.ts";
import { itemOfStep } from "./resume/resume-steps.ts";
import { ToolLoop } from "./tool-loop.ts";

type Turn = AsyncIterable<readonly ModelEvent[]>;

export interface ToolTurns {
  /** The events of all turns and of the tools in between, in the order in which they are shown. */
  readonly events: Turn;
  /** The sources that the answer may cite. Grows during the response. */
  readonly sources: Sources;
  /** The latest offer to the model, with the context seen by now. Calls that the client must answer are left out. */
  readonly lastRequest: () => ModelRequest;
}

/** Stops the remaining work. Created once: each error costs a stack trace. */
const OVER = new Error("the response has ended");

/**
 * Calls the model, runs its calls of this server's tools, shows it the results and repeats, until it makes no more
 * calls. Resolves once all tools are open and the model has accepted the first turn; rejects with `ModelError` if one
 * of them refused. Leaving the iteration or aborting stops all work.
 */
export async function runTools(services: LoopServices, task: ToolTask, run: LoopRun): Promise<ToolTurns> {
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const point = await resumedAt(services, run);
  const newItemId = itemIds(task, point?.idsUsed ?? 0);
  const scope = {
    owner: run.owner,
    abilities: services.engine.abilitiesOf(task.request.model),
    responseId: run.responseId,
    continuedId: run.past.continuedId,
    signal,
    newItemId,
  };
  const { include } = task.tools;
  const context = [...task.tools.context, ...(point?.output ?? []), ...(point?.steps.flatMap(itemOfStep) ?? [])];
  const citedBefore = point?.citedBefore ?? 0;
  const claims = approvedCalls(task.tools.context).filter(({ requestId }) => point?.spentIds.has(requestId) !== true);
  const approvals = await withOrigin(services.store, run.owner, claims);
  const laterTools = deferredTools(task.request.tools, task.tools);
  let set: ToolSet;
  const opening = { ...scope, include, context, citedBefore, approvals, laterTools };
  try {
    set = await openTools(services.tools, task.tools.hosted, opening);
  } catch (error) {
    if (!run.isBackground || !(error instanceof ToolNotOpened)) throw error;
    return { events: failingTurn(error), sources: new Sources(), lastRequest: () => task.request };
  }
  run.signal.addEventListener("abort", () => void set.close(), { once: true }); // Even if nobody reads the events.
  try {
    const { set: offeredSet, heldCount } = await holdFunctions(services, task.request, opening, set);
    const loop = new ToolLoop(services, { task, run, set: offeredSet, heldCount, laterTools, signal, newItemId });
    if (point !== null) await loop.goOnAt(point);
    const isBusy = set.pending.length > 0 || (point !== null && (point.steps.length > 0 || point.end !== null));
    const first = isBusy || loop.endsSteered ? null : await loop.ask();
    return {
      events: loop.events(first, () => stop.abort(OVER)),
      sources: loop.sources,
      lastRequest: () => loop.lastRequest(),
    };
  } catch (error) {
    stop.abort(OVER);
    await set.close();
    throw error;
  }
}

import { unlessAborted } from "@antiphon/base/limits/unless-aborted.ts";
import type { CreateResponseRequest, Response } from "@antiphon/contracts/responses-api/types.ts";
import type { LastingRuns } from "@antiphon/domain/batches/batch-work.ts";
import type { Caller } from "../access/caller.ts";
import type { RunHold } from "../access/key-hold.ts";
import { responseNotFound } from "../errors/state-errors.ts";
import { type WatchContext, type Watched, waitUntilOver } from "../show/watch-response.ts";
import { type AnsweredResponse, answerResponse, beginResponse, type CreateContext } from "./begin-response.ts";

/**
 * Makes a response whose events nobody reads, as `answerResponse` does, or in the background if its caller keeps its
 * responses over crashes. `choice`: which of several it is.
 */
export async function answerCaller(
  context: CreateContext,
  request: CreateResponseRequest,
  caller: Caller,
  choice = 0,
): Promise<AnsweredResponse> {
  const { lastingRuns } = caller;
  if (lastingRuns === undefined) return await answerResponse(context, request, caller);
  return await answerLasting(context, request, { ...caller, lastingRuns }, choice);
}

/** Finds the response if it was begun before. It is shown as if it were made in the foreground. */
async function answerLasting(
  context: CreateContext,
  request: CreateResponseRequest,
  caller: Caller & { readonly lastingRuns: LastingRuns },
  choice: number,
): Promise<AnsweredResponse> {
  const { lastingRuns, signal } = caller;
  const { owner } = caller.principal;
  const earlierId = lastingRuns.find(choice);
  const isThere = earlierId !== null && (await context.watching.store.findResponse(owner, earlierId)) !== null;
  const asWanted = { background: false, store: request.store ?? true };
  if (isThere) {
    const response = await endOfLasting(context.watching, { owner, responseId: earlierId, signal });
    return { response: { ...response, ...asWanted }, notes: [], headers: {} };
  }
  const runHold = namingHold((id) => lastingRuns.name(choice, id, asWanted.store));
  const lasting = { ...request, background: true, store: true, stream: false };
  const beginning = await beginResponse(context, lasting, { ...caller, runHold }).catch((error: unknown) => {
    lastingRuns.refuse();
    throw error;
  });
  const response = await endOfLasting(context.watching, { owner, responseId: beginning.responseId, signal });
  return { response: { ...response, ...asWanted }, notes: beginning.notes, headers: beginning.headers };
}

/** Only names the response. */
function namingHold(name: RunHold["name"]): RunHold {
  return { worker: null, name, begin: () => {}, act: () => {}, end: () => {}, release: async () => {} };
}

/**
 * The final snapshot of a background response. Throws an `ApiError` if it was deleted; rejects if the watcher leaves.
 */
async function endOfLasting(watching: WatchContext, watch: Watched): Promise<Response> {
  await unlessAborted(watching.runs.whenDone(watch.responseId), watch.signal);
  const response = await waitUntilOver(watching, watch, Number.POSITIVE_INFINITY);
  watch.signal.throwIfAborted();
  if (response === null) throw responseNotFound(watch.responseId);
  return response;
}

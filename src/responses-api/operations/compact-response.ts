import { idFromStem, newIdStem } from "@antiphon/base/ids.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { CompactRequest, CreateResponseRequest, Usage } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import { responseUsage } from "../../runs/index.ts";
import { Admission } from "../access/admission.ts";
import type { Caller } from "../access/caller.ts";
import type { KeyAccounts } from "../access/key-accounts.ts";
import { checkAvailability, checkModelName } from "../checks/check-availability.ts";
import { isUserMessage, sinceCompaction } from "../compaction/begin-at-compaction.ts";
import { sealCompaction } from "../compaction/compacted-context.ts";
import { checkCompaction } from "../compaction/plan-compaction.ts";
import { readSummary, summaryRequest } from "../compaction/summary-turn.ts";
import { checkModelOwner } from "../create/model-defaults.ts";
import { type ShapingContext, shapeTurn } from "../create/shape-turn.ts";
import { rethrowModelError } from "../errors/model-errors.ts";
import { missingParameter, nothingToAnswer } from "../errors/parameter-errors.ts";
import { tooManyRuns } from "../errors/server-errors.ts";
import { sealScope } from "../input/resolve-input.ts";
import { estimateInputTokens } from "../task/model-request.ts";
import { fitRequest } from "../tool-loop/results/fit-request.ts";

/** The maximum concurrent compactions. Each is a model call. */
const COMPACTIONS_MAX = 100;

/**
 * `POST /v1/responses/compact`: returns the user messages, and a sealed summary that the model makes of the context.
 */
export function compactResponse(
  preparing: ShapingContext,
  accounts: KeyAccounts,
): ResponsesApiHandlers<Caller>["compactResponse"] {
  let running = 0;
  return async ({ body }, caller) => {
    if (running >= COMPACTIONS_MAX) throw tooManyRuns("runs", COMPACTIONS_MAX);
    running += 1;
    try {
      await accounts.budgets.requireRoom(caller.principal);
      const admission = await Admission.open(accounts.limiter, caller.principal);
      const reply = await compact(preparing, admission, body, caller);
      const { owner, keyId } = caller.principal;
      accounts.meter.noteAnswer({ owner, keyId, model: reply.model }, reply.body.usage);
      return { status: 200, headers: reply.headers, body: reply.body };
    } finally {
      running -= 1;
    }
  };
}

async function compact(preparing: ShapingContext, admission: Admission, body: CompactRequest, caller: Caller) {
  const { principal, signal } = caller;
  const { owner } = principal;
  const request = await requestOf(preparing.history.store, owner, body);
  checkModelOwner(request.model, preparing.model.policyOf(request.model ?? ""), owner);
  await checkAvailability(request, preparing.model.kindOf(request.model ?? ""));
  checkCompaction(request);
  const ids = newIdStem(Math.floor(Date.now() / 1000), stemKey(request));
  const { items, request: shapedRequest } = await shapeTurn(preparing, caller, request, ids);
  if (shapedRequest.items.length === 0) throw nothingToAnswer();
  checkModelName(request.model);
  const { summary, usage } = await summarize(preparing.model.engine, shapedRequest, admission, signal);
  const id = idFromStem("resp", ids, 0);
  const place = { id: idFromStem("cmp", ids, 0), type: "compaction" as const };
  const context = { summary, keeps: "user_messages" as const, calls: [] };
  const compaction = { ...place, encrypted_content: sealCompaction(context, preparing.sealer, id, sealScope(owner)) };
  return {
    model: request.model ?? "",
    headers: admission.headers,
    body: {
      id,
      object: "response.compaction" as const,
      created_at: ids.createdAt,
      output: [...sinceCompaction(items).filter(isUserMessage), compaction],
      usage,
    },
  };
}

async function summarize(
  engine: ModelEngine,
  shapedRequest: ModelRequest,
  admission: Admission,
  signal: AbortSignal,
): Promise<{ readonly summary: string; readonly usage: Usage }> {
  const rules = { dropsOldest: true, tools: null };
  const { request: fittedRequest } = await fitRequest(engine, summaryRequest(shapedRequest), rules, signal).catch(
    rethrowModelError,
  );
  const { maxOutputTokens: outputMax } = fittedRequest;
  await admission.reserve({ input: await estimateInputTokens(fittedRequest), outputMax });
  const turn = await engine.sample(fittedRequest, signal).catch((error: unknown) => {
    admission.settle(0); // The model used no tokens.
    return rethrowModelError(error);
  });
  try {
    const summary = await readSummary(turn);
    const inputTokens = summary.usage?.inputTokens ?? (await engine.estimateTokens(fittedRequest, signal));
    const estimate = { inputTokens, outputCharacters: summary.text.length, outputTokensMax: outputMax };
    const usage = responseUsage(summary.usage, estimate);
    admission.settle(usage.total_tokens);
    return { summary: summary.text, usage };
  } catch (error) {
    admission.settle(null);
    return rethrowModelError(error);
  }
}

/** A null model means the model of the previous response. */
async function requestOf(store: ResponseStore, owner: Owner, body: CompactRequest): Promise<CreateResponseRequest> {
  const { model, previous_response_id: previousId } = body;
  const previous = model === null && previousId != null ? await store.findResponse(owner, previousId) : null;
  const name = model ?? previous?.model;
  if (name === undefined) throw missingParameter("model");
  return { ...body, input: body.input ?? "", model: name };
}

function stemKey({ previous_response_id: previousId }: CreateResponseRequest): string | undefined {
  return /^resp_([0-9a-f]{16})/.exec(previousId ?? "")?.[1];
}

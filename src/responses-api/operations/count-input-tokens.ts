import { newIdStem } from "@antiphon/base/ids.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { CreateResponseRequest, InputTokensRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { RateLimiter } from "@antiphon/domain/rates.ts";
import { Admission } from "../access/admission.ts";
import type { Caller } from "../access/caller.ts";
import { checkAvailability } from "../checks/check-availability.ts";
import { checkCompaction } from "../compaction/plan-compaction.ts";
import { withModelPolicy } from "../create/model-defaults.ts";
import { type ShapingContext, shapeTurn } from "../create/shape-turn.ts";
import { rethrowModelError } from "../errors/model-errors.ts";
import { withHostedFunctions } from "../tool-loop/count-tools.ts";
import { fitRequest } from "../tool-loop/results/fit-request.ts";

/** `POST /v1/responses/input_tokens`: counts the input tokens that a create call with this body would use. */
export function countInputTokens(
  context: ShapingContext,
  limiter: RateLimiter,
): ResponsesApiHandlers<Caller>["countInputTokens"] {
  return async ({ body }, caller) => {
    const { principal, signal } = caller;
    const { owner } = principal;
    await Admission.open(limiter, principal);
    // Not supported by any model engine, so it adds no tokens.
    const { personality: _personality, ...members } = body ?? {};
    const model = await chooseModel(context, owner, members, signal);
    const named = { ...members, input: members.input ?? "", model };
    const request = withModelPolicy(named, context.model.policyOf(model ?? ""), owner);
    await checkAvailability(request, context.model.kindOf(request.model ?? ""));
    checkCompaction(request);
    const { tokens, exact } = await count(context, caller, request).catch(rethrowModelError);
    return {
      status: 200,
      headers: { "x-token-count": exact ? "exact" : "estimate" },
      body: { object: "response.input_tokens", input_tokens: tokens },
    };
  };
}

async function count(context: ShapingContext, caller: Caller, request: CreateResponseRequest) {
  const turn = await shapeTurn(context, caller, request, newIdStem(Math.floor(Date.now() / 1000)));
  const { owner } = caller.principal;
  const { engine } = context.model;
  const wholeRequest = await withHostedFunctions(
    { tools: context.tools.catalogue, engine },
    { ...turn, owner },
    caller.signal,
  );
  const rules = { dropsOldest: request.truncation === "auto", tools: null };
  const fitting = await fitRequest(engine, wholeRequest, rules, caller.signal);
  return await engine.countTokens(fitting.request, caller.signal);
}

/** The model of the request, otherwise of the previous response, otherwise the first in the engine's list. */
async function chooseModel(
  { history: { store }, model: { engine } }: ShapingContext,
  owner: Owner,
  { model, previous_response_id: previousId }: Pick<InputTokensRequest, "model" | "previous_response_id">,
  signal: AbortSignal,
): Promise<string> {
  if (model != null) return model;
  const previous = previousId == null ? null : await store.findResponse(owner, previousId);
  if (previous !== null) return previous.model;
  const [first] = await engine.listModels(signal).catch(rethrowModelError);
  return first?.id ?? "";
}

import type { ResponsesApiHandlers } from "../../../generated/responses-api/operations.ts";
import type { CreateResponseRequest, InputTokensRequest } from "../../../generated/responses-api/types.ts";
import { newIdStem } from "../../base/ids.ts";
import type { ModelEngine, Owner } from "../../runs/ports.ts";
import { Admission } from "../access/admission.ts";
import type { ApiContext } from "../access/context.ts";
import { checkAvailability, type EngineKind } from "../checks/check-availability.ts";
import { checkCompaction } from "../compaction/plan-compaction.ts";
import { shapeTurn, type TurnSources } from "../create/shape-turn.ts";
import { refused } from "../errors/model-errors.ts";
import type { RateLimiter, ResponseStore } from "../ports.ts";
import { keepWindow } from "../window/keep-window.ts";

export interface CountParts extends TurnSources {
  readonly engine: ModelEngine;
  readonly engineKind: EngineKind;
  readonly limiter: RateLimiter;
  readonly store: TurnSources["store"] & Pick<ResponseStore, "findResponse">;
}

/** `POST /v1/responses/input_tokens`: what a create call with this body would take of input. */
export function countInputTokens(parts: CountParts): ResponsesApiHandlers<ApiContext>["countInputTokens"] {
  return async ({ body }, { principal, signal }) => {
    const { owner } = principal;
    await Admission.open(parts.limiter, principal);
    const { personality: _personality, ...members } = body ?? {}; // No model here has one.
    const request = { ...members, input: members.input ?? "", model: await modelOf(parts, owner, members, signal) };
    checkAvailability(request, parts.engineKind);
    checkCompaction(request);
    const { tokens, exact } = await count(parts, { owner, signal }, request).catch(refused);
    return {
      status: 200,
      headers: { "x-token-count": exact ? "exact" : "estimate" },
      body: { object: "response.input_tokens", input_tokens: tokens },
    };
  };
}

async function count(
  parts: CountParts,
  scope: { readonly owner: Owner; readonly signal: AbortSignal },
  request: CreateResponseRequest,
) {
  const shaped = await shapeTurn(parts, scope, request, newIdStem(Math.floor(Date.now() / 1000)));
  const kept =
    request.truncation === "auto" ? await keepWindow(parts.engine, shaped.request, scope.signal) : shaped.request;
  return await parts.engine.countTokens(kept, scope.signal);
}

/** The model that is named, else that of the response before, else the first there is. */
async function modelOf(
  { store, engine }: CountParts,
  owner: Owner,
  { model, previous_response_id: previousId }: Pick<InputTokensRequest, "model" | "previous_response_id">,
  signal: AbortSignal,
): Promise<string> {
  if (model != null) return model;
  const previous = previousId == null ? null : await store.findResponse(owner, previousId);
  if (previous !== null) return previous.model;
  const [first] = await engine.listModels(signal).catch(refused);
  return first?.id ?? "";
}

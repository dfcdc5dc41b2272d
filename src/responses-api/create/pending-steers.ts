import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { SteerStore } from "@antiphon/domain/steering/steers.ts";
import type { ToolLedger } from "@antiphon/domain/tool-ledger.ts";
import type { TakenSteers } from "../../runs/ports/event-log.ts";
import type { Caller } from "../access/caller.ts";
import { bringsResults, withSteers } from "../input/steer-input.ts";

interface PendingContext {
  readonly steers: Pick<SteerStore, "listPending">;
  readonly tools: { readonly ledger: Pick<ToolLedger, "turnsOf"> };
}

interface SteeredRequest {
  readonly asked: CreateResponseRequest;
  /** The inputs that it takes; null if none wait. */
  readonly steers: TakenSteers | null;
}

/**
 * Adds the inputs that wait for the results in a request. A response that is not stored takes none: nobody would find
 * it.
 */
export async function withPendingSteers(
  { steers: store, tools }: PendingContext,
  { principal: { owner }, steers: given }: Pick<Caller, "principal" | "steers">,
  request: CreateResponseRequest,
): Promise<SteeredRequest> {
  const { previous_response_id: responseId, store: isStored } = request;
  const mayWait = given === undefined && responseId != null && isStored !== false && bringsResults(request);
  const pendingSteers = mayWait ? await store.listPending(owner, responseId) : [];
  if (responseId == null || pendingSteers.length === 0) return { asked: request, steers: given ?? null };
  const turn = (await tools.ledger.turnsOf(owner, responseId)).length + 1;
  const ids = pendingSteers.map(({ id }) => id);
  return { asked: withSteers(request, pendingSteers), steers: { responseId, ids, turn } };
}

import type { CreateResponseRequest, StoredItem } from "../../../generated/responses-api/types.ts";
import { type IdStem, idFromStem } from "../../base/ids.ts";
import type { ModelRequest } from "../../runs/request/model-request.ts";
import type { Caller } from "../access/caller.ts";
import { checkToolChoice, checkTools } from "../checks/check-tools.ts";
import { loadHistory } from "../input/load-history.ts";
import { resolveInput } from "../input/resolve-input.ts";
import { seenContext } from "../input/seen-context.ts";
import { acceptTools, askerOf, type OfferedHostedTool } from "../offered-tools/accept-tools.ts";
import { modelRequest, withConfiguration } from "../task/model-request.ts";
import { firstSnapshot } from "./first-snapshot.ts";
import { withJoinedTools } from "./joined-tools.ts";
import type { PreparingContext } from "./prepare-run.ts";

export interface ShapedTurn {
  /** All items in stored form: history, then input. */
  readonly items: readonly StoredItem[];
  /** The request to the model, without the functions of hosted tools. */
  readonly request: ModelRequest;
  /** The tools of the request that this server runs. */
  readonly hosted: readonly OfferedHostedTool[];
  /** The context in stored form. */
  readonly context: readonly StoredItem[];
}

/** The first turn of a create call with this request. Calls no model and stores nothing. */
export async function shapeTurn(
  { model, history: stores, tools: hosting, sealer, media }: PreparingContext,
  caller: Caller,
  sent: CreateResponseRequest,
  ids: IdStem,
): Promise<ShapedTurn> {
  const history = await loadHistory(stores, caller, sent);
  await checkTools(sent);
  const accepted = await acceptTools(hosting.catalogue, sent, askerOf(model.engine, caller.principal));
  const { owner } = caller.principal;
  const { items, context, places } = await resolveInput({ store: stores.store, sealer }, owner, ids, { sent, history });
  const request = withConfiguration(sent, history, items);
  const tools = withJoinedTools(accepted.echoes, { context, places });
  checkToolChoice(request, tools);
  const reasoning = model.engine.reasoningDefaults(request.model ?? "");
  const snapshot = firstSnapshot(request, { tools, reasoning }, idFromStem("resp", ids, 0), ids.createdAt);
  const seen = await seenContext({ sealer, media, toolLedger: hosting.ledger }, caller, request, {
    context,
    places,
    hosted: accepted.hosted,
  });
  const asked = modelRequest(request, snapshot, seen, accepted);
  return { items: [...history, ...items], request: asked, hosted: accepted.hosted, context };
}

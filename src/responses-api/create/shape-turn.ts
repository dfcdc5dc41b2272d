import type { CreateResponseRequest, StoredItem } from "../../../generated/responses-api/types.ts";
import { type IdStem, idFromStem } from "../../base/ids.ts";
import type { ModelRequest } from "../../runs/ports.ts";
import type { Caller } from "../access/caller.ts";
import { acceptedTools, checkToolChoice } from "../checks/check-tools.ts";
import { loadHistory } from "../input/load-history.ts";
import { resolveInput } from "../input/resolve-input.ts";
import { shapeContext } from "../input/shape-context.ts";
import type { ResponseServices } from "../services.ts";
import { firstSnapshot } from "./first-snapshot.ts";
import { withJoinedTools } from "./joined-tools.ts";
import { modelRequest, withConfiguration } from "./model-request.ts";

export interface ShapedTurn {
  /** All items as they are stored: history, then input. */
  readonly items: readonly StoredItem[];
  /** The request to the model. */
  readonly request: ModelRequest;
}

/** The turn that a create call with this request would ask for. Nothing is asked and nothing is stored. */
export async function shapeTurn(
  services: Pick<ResponseServices, "store" | "conversations" | "sealer" | "media">,
  caller: Caller,
  sent: CreateResponseRequest,
  ids: IdStem,
): Promise<ShapedTurn> {
  const history = await loadHistory(services, caller, sent);
  const accepted = await acceptedTools(sent);
  const { owner } = caller.principal;
  const { items, context, places } = await resolveInput(services, owner, ids, { sent, history });
  const request = withConfiguration(sent, history, items);
  const tools = withJoinedTools(accepted, { context, places });
  checkToolChoice(request, tools);
  const snapshot = firstSnapshot(request, tools, idFromStem("resp", ids, 0), ids.createdAt);
  const shown = await shapeContext(services, caller, context, places);
  return { items: [...history, ...items], request: modelRequest(request, snapshot, shown) };
}

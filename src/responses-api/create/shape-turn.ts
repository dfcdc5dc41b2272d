import type { CreateResponseRequest, StoredItem } from "../../../generated/responses-api/types.ts";
import { type IdStem, idFromStem } from "../../base/ids.ts";
import type { ModelRequest } from "../../runs/ports.ts";
import { acceptedTools, checkToolChoice } from "../checks/check-tools.ts";
import { type HistorySources, loadHistory } from "../input/load-history.ts";
import type { InputSources } from "../input/place-list.ts";
import { resolveInput } from "../input/resolve-input.ts";
import { type ContextScope, type ContextSources, shapeContext } from "../input/shape-context.ts";
import { firstSnapshot } from "./first-snapshot.ts";
import { withJoinedTools } from "./joined-tools.ts";
import { modelRequest } from "./model-request.ts";
import { withConfiguration } from "./with-configuration.ts";

/** Where what a turn consists of is found. */
export interface TurnSources extends InputSources, ContextSources, HistorySources {
  readonly store: InputSources["store"] & HistorySources["store"];
}

export interface ShapedTurn {
  /** Everything that was said, as it is stored: history, then input. */
  readonly said: readonly StoredItem[];
  /** What a model is asked. */
  readonly request: ModelRequest;
}

/** What a create call with this request would ask its model, when nothing is to be answered or kept. */
export async function shapeTurn(
  sources: TurnSources,
  scope: ContextScope,
  sent: CreateResponseRequest,
  ids: IdStem,
): Promise<ShapedTurn> {
  const history = await loadHistory(sources, scope.owner, sent);
  const accepted = acceptedTools(sent);
  const { owner } = scope;
  const { items, context, places } = await resolveInput(sources, owner, ids, { input: sent.input ?? [], history });
  const request = withConfiguration(sent, history, items);
  const tools = withJoinedTools(accepted, { context, places });
  checkToolChoice(request, tools);
  const snapshot = firstSnapshot(request, tools, idFromStem("resp", ids, 0), ids.createdAt);
  const shown = await shapeContext(sources, scope, context, places);
  return { said: [...history, ...items], request: modelRequest(request, snapshot, shown) };
}

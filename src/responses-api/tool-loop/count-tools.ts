import { idFromStem, newIdStem } from "@antiphon/base/ids.ts";
import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { HostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { ModelEngine } from "@antiphon/domain/models/model-engine.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { OfferedHostedTool } from "../offered-tools/accept-tools.ts";
import { deferredTools, offerTools, withNotes } from "./offer-tools.ts";
import { openTools } from "./open-tools.ts";

/** A turn whose tokens are only counted. */
export interface TurnToCount {
  readonly owner: Owner;
  readonly request: ModelRequest;
  readonly hostedTools: readonly OfferedHostedTool[];
  /** The context in stored form. */
  readonly context: readonly StoredItem[];
}

/**
 * The request of the first turn with the functions of its hosted tools. MCP servers are not called, so their functions
 * are missing.
 */
export async function withHostedFunctions(
  { tools: catalogue, engine }: { readonly tools: HostedTools; readonly engine: ModelEngine },
  { owner, request, hostedTools, context }: TurnToCount,
  signal: AbortSignal,
): Promise<ModelRequest> {
  if (hostedTools.length === 0) return request;
  const knownTools = hostedTools.filter(({ kind }) => kind !== "mcp");
  const laterTools = deferredTools(request.tools, { hosted: hostedTools, context });
  const stem = newIdStem(0);
  const set = await openTools(catalogue, knownTools, {
    owner,
    abilities: engine.abilitiesOf(request.model),
    responseId: idFromStem("resp", stem, 0),
    continuedId: null,
    include: [],
    context,
    approvals: [],
    laterTools,
    signal,
    newItemId: (prefix) => idFromStem(prefix, stem, 0),
  });
  try {
    const { functions, notes } = set;
    const heldBack: ReadonlySet<unknown> = new Set(laterTools);
    const tools = request.tools.filter((tool) => !heldBack.has(tool));
    return {
      ...request,
      ...offerTools({ ...request, tools }, { functions, laterTools, foundTools: [], isFirst: true, mayCall: true }),
      instructions: withNotes(request, hostedTools, notes),
    };
  } finally {
    await set.close();
  }
}

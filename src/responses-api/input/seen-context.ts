import type { CreateResponseRequest, StoredItem } from "../../../generated/responses-api/types.ts";
import type { ToolLedger } from "../../domain/tool-ledger.ts";
import type { ContextItem } from "../../runs/request/model-request.ts";
import type { Caller } from "../access/caller.ts";
import { labelsOf, type OfferedHostedTool } from "../offered-tools/accept-tools.ts";
import { type ContextReaders, shapeContext } from "./shape-context.ts";
import { knownExchanges, withExchanges } from "./with-exchanges.ts";

/** The stored context of a request, and the settings for the model's view of it. */
export interface StoredContext {
  readonly context: readonly StoredItem[];
  /** For each item, its index in this request's input; null if it comes from an earlier request. */
  readonly places: readonly (number | null)[];
  readonly hosted: readonly OfferedHostedTool[];
}

/** The context as the model sees it: media and reasoning converted, calls of hosted tools as it made and saw them. */
export async function seenContext(
  readers: ContextReaders & { readonly toolLedger: ToolLedger },
  caller: Pick<Caller, "principal" | "signal" | "remembered">,
  request: Pick<CreateResponseRequest, "previous_response_id">,
  { context, places, hosted }: StoredContext,
): Promise<readonly ContextItem[]> {
  const shaped = await shapeContext(readers, caller, context, places);
  const known = knownExchanges(readers.toolLedger, caller, request);
  return await withExchanges(known, caller.principal.owner, shaped, { mcpServers: labelsOf(hosted) });
}

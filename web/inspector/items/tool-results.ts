import { createContext, useContext, useMemo } from "react";
import type { Antiphon, ResponsesApi } from "../../../packages/client/src/index.ts";
import { useCall } from "../api/use-call.ts";
import { listAt, textAt } from "../base/members.ts";
import type { ShownItem } from "./fold-events.ts";

type ToolResult = ResponsesApi.ShownToolResult;

/** What the model was shown of calls, by the ids of their items. */
export type ToolResults = ReadonlyMap<string, ToolResult>;

const NO_RESULTS: ToolResults = new Map();
const ToolResultsContext = createContext<ToolResults>(NO_RESULTS);
export const ToolResultsProvider = ToolResultsContext.Provider;

const HAS_ENDED = /^(completed|failed|incomplete)$/;

/** What the model was shown of this call; null if that is not known, or if the item itself says it. */
export function useToolResult(item: ShownItem): ToolResult | null {
  const results = useContext(ToolResultsContext);
  return HAS_ENDED.test(textAt(item, "status")) && lacksResult(item) ? (results.get(textAt(item, "id")) ?? null) : null;
}

interface Calls {
  readonly output: readonly ShownItem[];
  /** Whether more calls may come. */
  readonly isLive: boolean;
}

/** Reads the results of calls whose items do not have them; of a run that goes on, again at its end. */
export function useToolResults(client: Antiphon, id: string, { output, isLive }: Calls): ToolResults {
  const isLacking = output.some(lacksResult);
  const { reply } = useCall(
    async (signal) => (isLacking ? (await client.listResponseExchanges(id, { signal })).tool_results : []),
    [client, id, isLacking, isLive],
  );
  return useMemo(() => new Map((reply ?? []).map((result) => [result.item_id, result])), [reply]);
}

/** Whether the item shows its results only to requests that include them, or never. */
function lacksResult(item: ShownItem): boolean {
  if (item.type === "web_search_call") return true;
  if (item.type === "file_search_call") return listAt(item, "results").length === 0;
  return item.type === "code_interpreter_call" && listAt(item, "outputs").length === 0;
}

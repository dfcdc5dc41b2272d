import type { Antiphon, Response, ResponsesApi } from "../../../packages/client/src/index.ts";
import { useClient } from "../api/session.ts";
import { type Call, useCall } from "../api/use-call.ts";

const PAGE_SIZE = 100;
/** Pages of runs of one second that are looked through for one of them. */
const PAGES_MAX = 20;

/** What the list of runs says of a run, such as its price and key. Read again when it ends. */
export function useSummary(response: Response): Call<ResponsesApi.ResponseSummary | null> {
  const client = useClient();
  return useCall((signal) => findSummary(client, response, signal), [client, response.id, response.status]);
}

/** Looks for a run in the list of its second; null if it is not there. */
export async function findSummary(
  client: Antiphon,
  { id, created_at: createdAt }: Pick<Response, "id" | "created_at">,
  signal: AbortSignal,
): Promise<ResponsesApi.ResponseSummary | null> {
  const query = { created_after: createdAt, created_before: createdAt + 1, limit: PAGE_SIZE };
  let after: string | null = null;
  for (let page = 0; page < PAGES_MAX; page++) {
    const listed: ResponsesApi.ResponseSummaryList = await client.listResponses(
      { ...query, ...(after === null ? {} : { after }) },
      { signal },
    );
    const found = listed.data.find((summary) => summary.id === id);
    if (found !== undefined || !listed.has_more) return found ?? null;
    after = listed.last_id;
  }
  return null;
}

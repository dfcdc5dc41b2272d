import { query } from "../kit/tested-store.ts";

/** Puts a payment of unknown outcome into the ledger of a stored response. Resolves to the id of its item. */
export async function makeUnknownEffect(dataDir: string, responseId: string): Promise<string> {
  const itemId = `mcp_${responseId.slice("resp_".length)}`;
  await query(
    dataDir,
    `insert into tool_exchanges (item_id, response_id, organization, project, call_id, name, server, arguments, effect,
      output, parts, item, created_at, turn, outcome)
    select ?, id, organization, project, 'call_1', 'pay', 'bank', '{}', 'may_have', 'unknown', '[]', '{}', created_at, 1,
      'unknown' from responses where id = ?`,
    itemId,
    responseId,
  );
  return itemId;
}

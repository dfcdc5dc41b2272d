import { type Kysely, sql } from "kysely";
import type { Response } from "../../../generated/responses-api/types.ts";
import { assert } from "../../base/assert.ts";
import type { Owner } from "../../runs/ports.ts";
import type { Database } from "../database/schema.ts";

/** No real chain is this long; a longer one would be a cycle. */
const CHAIN_LINKS_MAX = 10_000;

/** One response of a chain. */
export interface ChainLinkRow {
  readonly id: string;
  readonly status: Response["status"];
  readonly previousResponseId: string | null;
  readonly conversationId: string | null;
  readonly conversationSeen: number | null;
}

/**
 * The chain that ends with this response, oldest first, as far back as this owner's links go. Includes deleted links
 * that other responses continue.
 */
export async function findLinks(
  db: Kysely<Database>,
  owner: Owner,
  responseId: string,
): Promise<readonly ChainLinkRow[]> {
  const { rows } = await sql<ChainLinkRow>`
    with recursive chain(id, status, previousResponseId, conversationId, conversationSeen, depth) as (
      select id, status, previous_response_id, conversation_id, conversation_seen, 0 from responses
        where id = ${responseId} and organization = ${owner.organization} and project = ${owner.project}
      union all
      select link.id, link.status, link.previous_response_id, link.conversation_id, link.conversation_seen, depth + 1
        from chain join responses as link on link.id = chain.previousResponseId
        where organization = ${owner.organization} and project = ${owner.project} and depth < ${CHAIN_LINKS_MAX}
      union all
      select link.id, link.status, link.previous_response_id, link.conversation_id, link.conversation_seen, depth + 1
        from chain join ancestors as link on link.id = chain.previousResponseId
        where organization = ${owner.organization} and project = ${owner.project} and depth < ${CHAIN_LINKS_MAX}
    )
    select id, status, previousResponseId, conversationId, conversationSeen from chain order by depth desc`.execute(db);
  assert(rows.length < CHAIN_LINKS_MAX, "a chain of responses has an end");
  return rows;
}

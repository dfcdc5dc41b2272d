import { assert } from "@antiphon/base/assert.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, sql } from "kysely";
import { builtOnce, type StandIns } from "../../database/built-once.ts";
import { dialectal } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import { isId, isSameId } from "../../database/time-first.ts";

/** No real chain is this long; a longer one would be a cycle. */
const CHAIN_LINKS_MAX = 10_000;

/** One response of a chain. */
export interface ChainLinkRow {
  readonly id: string;
  /** Its number among responses, used by its items. */
  readonly number: number;
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
  const { rows } = await findChain(db, { responseId, ...owner });
  assert(rows.length < CHAIN_LINKS_MAX, "a chain of responses has an end");
  return rows;
}

const findChain = builtOnce((db: Kysely<Database>, params: StandIns<Owner & { readonly responseId: string }>) => {
  const isOwned = sql`organization = ${params.value("organization")} and project = ${params.value("project")}`;
  const isPrevious = isSameId("link.id", "chain.previousResponseId");
  const earlier = (table: string) => sql`select ${sql.join(columnsOf("link"))} from ${sql.table(table)} as link
    where ${isPrevious} and ${isOwned}`;
  const next = (table: string) => sql`
    select ${sql.join(columnsOf("link"))}, depth + 1 from chain join ${sql.table(table)} as link on ${isPrevious}
      where ${isOwned} and depth < ${CHAIN_LINKS_MAX}`;
  const allEarlier = dialectal(
    sql`${next("responses")} union all ${next("ancestors")}`,
    // Here a recursive query may name itself only once.
    () => sql`
      select earlier.*, depth + 1 from chain
        cross join lateral (${earlier("responses")} union all ${earlier("ancestors")}) as earlier
        where depth < ${CHAIN_LINKS_MAX}`,
  );
  return sql<ChainLinkRow>`
    with recursive chain(id, number, status, ${NAMES}, depth) as (
      select ${sql.join(columnsOf("responses"))}, 0 from responses
        where ${isId("responses.id", params.id("responseId"))} and ${isOwned}
      union all ${allEarlier}
    )
    select id, number, status, ${NAMES} from chain order by depth desc`.compile(db);
});

const NAMES = sql.join([sql.ref("previousResponseId"), sql.ref("conversationId"), sql.ref("conversationSeen")]);

function columnsOf(table: string) {
  return ["id", "number", "status", "previous_response_id", "conversation_id", "conversation_seen"].map((column) =>
    sql.ref(`${table}.${column}`),
  );
}

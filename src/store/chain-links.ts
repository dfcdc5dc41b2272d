import { type Kysely, sql } from "kysely";
import { assert } from "../base/assert.ts";
import type { Owner } from "../runs/ports.ts";
import type { Database } from "./schema.ts";

/** No honest chain is as long; one that is would be a circle. */
const CHAIN_LINKS_MAX = 10_000;

/** The chain that ends with this response, oldest first, as far back as this owner has its links. */
export async function findLinks(db: Kysely<Database>, owner: Owner, responseId: string) {
  const links = await db
    .withRecursive("chain(id, status, previousResponseId, depth)", (chain) =>
      chain
        .selectFrom("responses")
        .select(["id", "status", "previous_response_id as previousResponseId", sql<number>`0`.as("depth")])
        .where("id", "=", responseId)
        .where("organization", "=", owner.organization)
        .where("project", "=", owner.project)
        .unionAll(
          chain
            .selectFrom("chain")
            .innerJoin("responses", "responses.id", "chain.previousResponseId")
            .select([
              "responses.id",
              "responses.status",
              "responses.previous_response_id as previousResponseId",
              sql<number>`chain.depth + 1`.as("depth"),
            ])
            .where("organization", "=", owner.organization)
            .where("project", "=", owner.project)
            .where("depth", "<", CHAIN_LINKS_MAX),
        ),
    )
    .selectFrom("chain")
    .select(["id", "status", "previousResponseId"])
    .orderBy("depth", "desc")
    .execute();
  assert(links.length < CHAIN_LINKS_MAX, "a chain of responses has an end");
  return links;
}

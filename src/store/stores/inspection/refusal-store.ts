import { newId } from "@antiphon/base/ids.ts";
import type { RefusedRequest } from "@antiphon/contracts/responses-api/types.ts";
import type { RefusalStore } from "@antiphon/domain/inspection.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import { storedJson } from "../../database/stored-json.ts";

/** Replaces the id of a response. No response has it. */
const REFUSED = "refused";
/** The maximum per owner; up to `CHECK_EVERY` more until the next check. */
const REFUSALS_MAX = 1_000;
/** After this many additions of this process, an owner's oldest are removed. */
const CHECK_EVERY = 50;

/** Refused requests in the table of exchanges, with its limits of bytes and age. */
export class StoredRefusals implements RefusalStore {
  readonly #db: Kysely<Database>;
  readonly #refusalsMax: number;
  #count = 0;

  constructor(db: Kysely<Database>, refusalsMax: number = REFUSALS_MAX) {
    this.#db = db;
    this.#refusalsMax = refusalsMax;
  }

  async add({ organization, project }: Owner, refusal: RefusedRequest): Promise<void> {
    const { created_at } = refusal;
    const body = JSON.stringify(refusal);
    const id = newId("exch", created_at);
    const bytes = Buffer.byteLength(body);
    await this.#db
      .insertInto("response_exchanges")
      .values({ id, response_id: REFUSED, organization, project, created_at, bytes, body })
      .execute();
    this.#count += 1;
    if (this.#count % Math.min(CHECK_EVERY, this.#refusalsMax) === 0)
      await this.#removeOldest({ organization, project });
  }

  async list(
    { organization, project }: Owner,
    { from, before }: { readonly from: number; readonly before: number },
  ): Promise<readonly RefusedRequest[]> {
    const rows = await this.#db
      .selectFrom("response_exchanges")
      .select("body")
      .where("response_id", "=", REFUSED)
      .where("organization", "=", organization)
      .where("project", "=", project)
      .where("created_at", ">=", from)
      .where("created_at", "<", before)
      .orderBy("sequence", "desc")
      .limit(this.#refusalsMax)
      .execute();
    return rows.map(({ body }) => storedJson<RefusedRequest>(body));
  }

  async #removeOldest({ organization, project }: Owner): Promise<void> {
    await sql`delete from response_exchanges
      where response_id = ${REFUSED} and organization = ${organization} and project = ${project} and sequence <= (
        select sequence from response_exchanges
        where response_id = ${REFUSED} and organization = ${organization} and project = ${project}
        order by sequence desc limit 1 offset ${sql.lit(this.#refusalsMax)})`.execute(this.#db);
  }
}

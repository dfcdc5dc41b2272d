import { type Kysely, sql } from "kysely";
import type { ResponseExchange } from "../../../generated/responses-api/types.ts";
import type { ExchangeStore } from "../../responses-api/inspection.ts";
import type { Owner } from "../../runs/ports.ts";
import type { Database } from "../database/schema.ts";
import { storedJson } from "../stored-json.ts";

/** How much is kept for one owner, in bytes. */
const OWNER_BYTES_MAX = 256 * 1024 * 1024;
/** After this many bytes more, an owner's oldest exchanges are removed if there are too many. */
const CHECKED_BYTES = 4 * 1024 * 1024;
/** How many are read for one response. */
const READ_MAX = 256;
/** How many one step removes. */
const STEP_ROWS = 200;

/** The exchanges in the database, written one by one. */
export class StoredExchanges implements ExchangeStore {
  readonly #db: Kysely<Database>;
  readonly #ownerBytesMax: number;
  #unchecked = 0;

  constructor(db: Kysely<Database>, ownerBytesMax: number = OWNER_BYTES_MAX) {
    this.#db = db;
    this.#ownerBytesMax = ownerBytesMax;
  }

  async add({ organization, project }: Owner, responseId: string, exchange: ResponseExchange): Promise<void> {
    const { id, created_at, ...rest } = exchange;
    const body = JSON.stringify(rest);
    const bytes = Buffer.byteLength(body);
    await this.#db
      .insertInto("response_exchanges")
      .values({ id, response_id: responseId, organization, project, created_at, bytes, body })
      .execute();
    this.#unchecked += bytes;
    if (this.#unchecked < Math.min(CHECKED_BYTES, this.#ownerBytesMax)) return;
    this.#unchecked = 0;
    await this.#removeOldest({ organization, project });
  }

  async list({ organization, project }: Owner, responseId: string): Promise<readonly ResponseExchange[]> {
    const rows = await this.#db
      .selectFrom("response_exchanges")
      .select(["id", "created_at", "body"])
      .where("response_id", "=", responseId)
      .where("organization", "=", organization)
      .where("project", "=", project)
      .orderBy("sequence")
      .limit(READ_MAX)
      .execute();
    return rows.map(({ id, created_at, body }) => ({
      ...storedJson<Omit<ResponseExchange, "id" | "created_at">>(body),
      id,
      created_at,
    }));
  }

  async remove({ organization, project }: Owner, responseId: string): Promise<void> {
    await this.#db
      .deleteFrom("response_exchanges")
      .where("response_id", "=", responseId)
      .where("organization", "=", organization)
      .where("project", "=", project)
      .execute();
  }

  async deleteExpired(before: number): Promise<number> {
    const { numDeletedRows } = await this.#db
      .deleteFrom("response_exchanges")
      .where("sequence", "in", (query) =>
        query.selectFrom("response_exchanges").select("sequence").where("created_at", "<", before).limit(STEP_ROWS),
      )
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  async #removeOldest({ organization, project }: Owner): Promise<void> {
    await sql`delete from response_exchanges where sequence in (
      select sequence from (
        select sequence, sum(bytes) over (order by sequence desc) as kept
        from response_exchanges where organization = ${organization} and project = ${project}) as counted
      where kept > ${sql.lit(this.#ownerBytesMax)})`.execute(this.#db);
  }
}

import type { ResponseExchange } from "@antiphon/contracts/responses-api/types.ts";
import type { ExchangeStore } from "@antiphon/domain/inspection.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, sql } from "kysely";
import type { Database } from "../../database/schema.ts";
import { storedJson } from "../../database/stored-json.ts";

/** An owner's limit is checked after this many more bytes; the oldest exchanges are then removed. */
const CHECKED_BYTES = 4 * 1024 * 1024;
/** The maximum owners with counted bytes. Beyond it, the longest counted owner is checked at once. */
const COUNTED_OWNERS_MAX = 10_000;
/** The maximum exchanges read for one response. */
const READ_MAX = 256;
/** The number of rows that one step removes. */
const STEP_ROWS = 200;

/** The exchanges in the database, written one by one. */
export class StoredExchanges implements ExchangeStore {
  readonly #db: Kysely<Database>;
  readonly #ownerBytesMax: number;
  /** Bytes that this process added since the last check, by owner. */
  readonly #uncheckedBytes = new Map<string, { readonly owner: Owner; readonly bytes: number }>();

  /** `ownerBytesMax`: the maximum bytes per owner; 0 for no limit. */
  constructor(db: Kysely<Database>, ownerBytesMax: number) {
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
    const due = this.#ownerBytesMax === 0 ? null : this.#count({ organization, project }, bytes);
    if (due !== null) await this.#removeOldest(due);
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

  /** Counts an owner's new bytes. Returns an owner whose check is due. */
  #count(owner: Owner, bytes: number): Owner | null {
    const key = JSON.stringify([owner.organization, owner.project]);
    const sum = (this.#uncheckedBytes.get(key)?.bytes ?? 0) + bytes;
    this.#uncheckedBytes.set(key, { owner, bytes: sum });
    if (sum >= Math.min(CHECKED_BYTES, this.#ownerBytesMax)) return this.#take(key);
    const [longest = key] = this.#uncheckedBytes.keys();
    return this.#uncheckedBytes.size > COUNTED_OWNERS_MAX ? this.#take(longest) : null;
  }

  #take(key: string): Owner | null {
    const entry = this.#uncheckedBytes.get(key);
    this.#uncheckedBytes.delete(key);
    return entry?.owner ?? null;
  }

  async #removeOldest({ organization, project }: Owner): Promise<void> {
    await sql`delete from response_exchanges where sequence in (
      select sequence from (
        select sequence, sum(bytes) over (order by sequence desc) as kept
        from response_exchanges where organization = ${organization} and project = ${project}) as counted
      where kept > ${sql.lit(this.#ownerBytesMax)})`.execute(this.#db);
  }
}

import { assert } from "@antiphon/base/assert.ts";
import { newId } from "@antiphon/base/ids.ts";
import type { ApiKey, KeyBudget, KeyChange, KeyStore, KnownKey, NewKey, RevokeRefusal } from "@antiphon/domain/keys.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Kysely, Selectable } from "kysely";
import { builtOnce, type StandIns } from "../database/built-once.ts";
import type { ApiKeysTable, Database } from "../database/schema.ts";
import { storedJson } from "../database/stored-json.ts";

/** All servers use this id for the first key, so that only one can add it. */
const FIRST_KEY_ID = "key_first";

export class StoredKeys implements KeyStore {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async addKey(key: NewKey): Promise<ApiKey> {
    const createdAt = now();
    const row = rowOf(key, newId("key", createdAt), createdAt);
    await this.#db.insertInto("api_keys").values(row).execute();
    return apiKey(row);
  }

  async addFirstKey(key: NewKey): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await this.#db
      .insertInto("api_keys")
      .values(rowOf(key, FIRST_KEY_ID, now()))
      .onConflict((conflict) => conflict.column("id").doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  async findByHash(hash: string): Promise<ApiKey | null> {
    const { rows } = await findValid(this.#db, { hash, now: now() });
    const [row] = rows;
    return row === undefined ? null : apiKey(row);
  }

  async listKeys(): Promise<readonly ApiKey[]> {
    const rows = await this.#db.selectFrom("api_keys").selectAll().orderBy("created_at").orderBy("id").execute();
    return rows.map(apiKey);
  }

  async findKey(id: string): Promise<ApiKey | null> {
    const row = await this.#db.selectFrom("api_keys").selectAll().where("id", "=", id).executeTakeFirst();
    return row === undefined ? null : apiKey(row);
  }

  async changeKey(id: string, { name, budget }: KeyChange): Promise<ApiKey | null> {
    const set = { ...(name === undefined ? {} : { name }), ...(budget === undefined ? {} : budgetColumns(budget)) };
    if (Object.keys(set).length > 0)
      await this.#db
        .updateTable("api_keys")
        .set(set)
        .where("id", "=", id)
        .where("revoked_at", "is", null)
        .executeTakeFirstOrThrow();
    const key = await this.findKey(id);
    return key === null || key.revokedAt !== null ? null : key;
  }

  async revokeKey(id: string, mustLeave = "nothing"): Promise<RevokeRefusal | null> {
    const otherOperators = this.#db
      .selectFrom("api_keys as other")
      .select("other.id")
      .where("other.id", "!=", id)
      .where("other.is_operator", "=", 1)
      .where("other.revoked_at", "is", null)
      .where((expression) =>
        expression.or([expression("other.expires_at", "is", null), expression("other.expires_at", ">", now())]),
      );
    const { numUpdatedRows } = await this.#db
      .updateTable("api_keys")
      .set({ revoked_at: now() })
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .$if(mustLeave === "an operator", (update) =>
        update.where((expression) =>
          expression.or([expression("is_operator", "=", 0), expression.exists(otherOperators)]),
        ),
      )
      .executeTakeFirstOrThrow();
    if (numUpdatedRows > 0n) return null;
    const key = await this.findKey(id);
    return key === null || key.revokedAt !== null ? "unknown" : "last_operator";
  }

  async count(): Promise<number> {
    const { keys } = await this.#db
      .selectFrom("api_keys")
      .select((expression) => expression.fn.countAll<number>().as("keys"))
      .executeTakeFirstOrThrow();
    return keys;
  }
}

function rowOf(key: NewKey, id: string, createdAt: number) {
  return {
    id,
    hash: key.hash,
    organization: key.owners[0].organization,
    project: key.owners[0].project,
    owners: key.isRouted ? JSON.stringify(key.owners) : null,
    name: key.name,
    last_four: key.lastFour,
    requests_per_minute: key.limits.requests,
    tokens_per_minute: key.limits.tokens,
    tools: key.tools == null ? null : JSON.stringify(key.tools),
    created_at: createdAt,
    expires_at: key.expiresAt,
    revoked_at: null,
    is_operator: key.isOperator === true ? 1 : 0,
    ...budgetColumns(key.budget ?? null),
  };
}

function budgetColumns(budget: KeyBudget | null) {
  const { period = null, nanos = null, tokens = null } = budget ?? {};
  return { budget_period: period, budget_nanos: nanos, budget_tokens: tokens };
}

type Wanted = { readonly hash: string; readonly now: number };

const findValid = builtOnce((db: Kysely<Database>, params: StandIns<Wanted>) =>
  db
    .selectFrom("api_keys")
    .selectAll()
    .where("hash", "=", params.value("hash"))
    .where("revoked_at", "is", null)
    .where((expression) =>
      expression.or([expression("expires_at", "is", null), expression("expires_at", ">", params.value("now"))]),
    )
    .compile(),
);

function apiKey(row: Selectable<ApiKeysTable>): ApiKey {
  return {
    id: row.id,
    owners: row.owners === null ? [{ organization: row.organization, project: row.project }] : readOwners(row.owners),
    isRouted: row.owners !== null,
    limits: { requests: row.requests_per_minute, tokens: row.tokens_per_minute },
    tools: row.tools === null ? null : storedJson<readonly string[]>(row.tools),
    name: row.name,
    isOperator: row.is_operator === 1,
    budget:
      row.budget_period === null
        ? null
        : { period: row.budget_period, nanos: row.budget_nanos, tokens: row.budget_tokens },
    lastFour: row.last_four,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

function readOwners(json: string): KnownKey["owners"] {
  const [first, ...others] = storedJson<readonly Owner[]>(json);
  assert(first !== undefined, "a key acts for somebody");
  return [first, ...others];
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}

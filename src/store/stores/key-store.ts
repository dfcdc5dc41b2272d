import { assert } from "@antiphon/base/assert.ts";
import { newId } from "@antiphon/base/ids.ts";
import type { KeyFinder, KnownKey } from "@antiphon/domain/keys.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { Kysely, Selectable } from "kysely";
import { builtOnce, type StandIns } from "../database/built-once.ts";
import type { ApiKeysTable, Database } from "../database/schema.ts";
import { storedJson } from "../database/stored-json.ts";

/** The stored form of a key, without its secret. */
export interface ApiKey extends KnownKey {
  readonly name: string;
  /** The last characters of the key, for people. */
  readonly lastFour: string;
  /** In Unix seconds, like the next two. */
  readonly createdAt: number;
  /** When the key expires; null if it never does. */
  readonly expiresAt: number | null;
  /** When the key was revoked; null if it was not. */
  readonly revokedAt: number | null;
}

/** `hash`: from `hashApiKey`. */
export type NewKey = Pick<ApiKey, "name" | "lastFour" | "owners" | "isRouted" | "limits" | "tools" | "expiresAt"> & {
  readonly hash: string;
};

/** The stored API keys. Keys are found by their hash; the keys themselves are not stored. */
export interface KeyStore extends KeyFinder {
  addKey(key: NewKey): Promise<ApiKey>;
  /** Returns false if a first key already exists, perhaps from another server that starts at the same time. */
  addFirstKey(key: NewKey): Promise<boolean>;
  /** All keys, oldest first, including revoked and expired ones. */
  listKeys(): Promise<readonly ApiKey[]>;
  /** Returns false if there is no such key, or if it was already revoked. */
  revokeKey(id: string): Promise<boolean>;
  /** The number of keys, including revoked and expired ones. */
  count(): Promise<number>;
}

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

  async revokeKey(id: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable("api_keys")
      .set({ revoked_at: now() })
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
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
  };
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

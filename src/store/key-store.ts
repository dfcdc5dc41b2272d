import type { Kysely, Selectable } from "kysely";
import { newId } from "../base/ids.ts";
import type { Owner } from "../runs/ports.ts";
import type { ApiKeysTable, Database } from "./schema.ts";

/** A key without its secret. */
export interface ApiKey {
  readonly id: string;
  readonly owner: Owner;
  readonly name: string;
  readonly createdAt: number;
}

/** Who may call. Keys are known by their hash (`hashApiKey`); the keys themselves are stored nowhere. */
export interface KeyStore {
  addKey(hash: string, owner: Owner, name: string): Promise<ApiKey>;
  findByHash(hash: string): Promise<ApiKey | null>;
  count(): Promise<number>;
}

export class StoredKeys implements KeyStore {
  readonly #db: Kysely<Database>;

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  async addKey(hash: string, owner: Owner, name: string): Promise<ApiKey> {
    const createdAt = Math.floor(Date.now() / 1000);
    const row = {
      id: newId("key", createdAt),
      hash,
      organization: owner.organization,
      project: owner.project,
      name,
      created_at: createdAt,
    };
    await this.#db.insertInto("api_keys").values(row).execute();
    return apiKey(row);
  }

  async findByHash(hash: string): Promise<ApiKey | null> {
    const row = await this.#db.selectFrom("api_keys").selectAll().where("hash", "=", hash).executeTakeFirst();
    return row === undefined ? null : apiKey(row);
  }

  async count(): Promise<number> {
    const { keys } = await this.#db
      .selectFrom("api_keys")
      .select((expression) => expression.fn.countAll<number>().as("keys"))
      .executeTakeFirstOrThrow();
    return keys;
  }
}

function apiKey(row: Selectable<ApiKeysTable>): ApiKey {
  return {
    id: row.id,
    owner: { organization: row.organization, project: row.project },
    name: row.name,
    createdAt: row.created_at,
  };
}

import {
  type ClaimedKey,
  type CreateKey,
  type CreateKeyStore,
  KEY_LIFE_SECONDS,
  type KeyClaim,
  type KeyedSubject,
} from "@antiphon/domain/create-keys.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { type Kysely, type Selectable, sql } from "kysely";
import { RunLost, StoreBusy } from "../../runs/ports/store-faults.ts";
import { SKIP_LOCKED } from "../database/dialectal.ts";
import type { CreateKeysTable, Database } from "../database/schema.ts";
import type { DatabaseCalls } from "../owner/database-calls.ts";
import { LaterWrites } from "./later-writes.ts";
import { findLivingWorkers } from "./living-workers.ts";
import { secondsNow } from "./vector-stores/store-statements.ts";

/** The operation of rows for lost replies. */
const LOST_REPLY = "lostReply";
/** About as many keys are forgotten by one statement. */
const FORGOTTEN_MAX = 1_000;

type Calls = Pick<DatabaseCalls, "workerNumber" | "findDeadWorkers" | "listUnmadeRuns">;

/**
 * The keys of creates in the database. A row names the worker that creates its subject. While that worker lives, only
 * its writes free the key, so they are retried until the database is back.
 */
export class StoredCreateKeys implements CreateKeyStore {
  readonly #db: Kysely<Database>;
  readonly #calls: Calls;
  readonly #laterWrites = new LaterWrites();
  /** What the holders of keys have named. */
  readonly #subjectIds = new WeakMap<ClaimedKey, string>();

  constructor(db: Kysely<Database>, calls: Calls) {
    this.#db = db;
    this.#calls = calls;
  }

  async claim(owner: Owner, key: CreateKey): Promise<KeyClaim> {
    const createdAt = secondsNow();
    const worker = await this.#calls.workerNumber();
    for (;;) {
      if (await this.#addOrRemove(owner, key, { worker, createdAt }))
        return { type: "first", claimedKey: { owner, key, worker } };
      const row = await this.#findRow(owner, key);
      if (row === undefined) continue; // Released meanwhile.
      if (row.created_at <= createdAt - KEY_LIFE_SECONDS || (await this.#isFree(row))) {
        await this.#remove(owner, key, row.worker);
        continue;
      }
      if (row.fingerprint !== key.fingerprint) return { type: "other_content" };
      await this.#ofKey(owner, key)
        .set((expression) => ({ repeats: expression("repeats", "+", 1) }))
        .execute();
      return { type: "repeated", ...subjectOf(row), repeats: row.repeats + 1 };
    }
  }

  async name(claimedKey: ClaimedKey, subjectId: string): Promise<void> {
    const { owner, key, worker } = claimedKey;
    this.#subjectIds.set(claimedKey, subjectId);
    const { numUpdatedRows } = await this.#ofKey(owner, key)
      .set({ subject_id: subjectId })
      .where("worker", "=", worker)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows !== 1n) throw new RunLost("another server has taken the key of the request");
  }

  async settle({ owner, key, worker }: ClaimedKey, answer: string | null): Promise<void> {
    const settled = this.#ofKey(owner, key).set({ worker: null, answer }).where("worker", "=", worker);
    await this.#laterWrites.write(() => settled.execute());
  }

  async release(claimedKey: ClaimedKey): Promise<void> {
    await this.#removeLater(claimedKey, this.#subjectIds.get(claimedKey) ?? null);
  }

  async find(owner: Owner, key: CreateKey): Promise<KeyedSubject | null> {
    const row = await this.#findRow(owner, key);
    return row === undefined || (await this.#isFree(row)) ? null : subjectOf(row);
  }

  async noteLost(owner: Owner, fingerprint: string, responseId: string): Promise<void> {
    await this.#db
      .insertInto("create_keys")
      .values({
        ...keyColumns(owner, lostKey(fingerprint, responseId)),
        fingerprint,
        subject_id: responseId,
        is_kept: 1,
        worker: null,
        repeats: 0,
        created_at: secondsNow(),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  async takeLost({ organization, project }: Owner, fingerprint: string, since: number): Promise<string | null> {
    const owned = sql`organization = ${organization} and project = ${project} and operation = ${LOST_REPLY}`;
    // The character after the colon ends what begins with the fingerprint.
    const { rows } = await sql<{ readonly subject_id: string }>`
      update create_keys set repeats = 1
      where ${owned} and repeats = 0 and key = (select key from create_keys
        where ${owned} and key > ${`${fingerprint}:`} and key < ${`${fingerprint};`} and repeats = 0
          and created_at >= ${since}
        order by created_at, key limit 1 ${SKIP_LOCKED})
      returning subject_id`.execute(this.#db);
    return rows[0]?.subject_id ?? null;
  }

  async isTaken(owner: Owner, fingerprint: string, responseId: string): Promise<boolean> {
    const row = await this.#findRow(owner, lostKey(fingerprint, responseId));
    return row !== undefined && row.repeats > 0;
  }

  async deleteOld(before: number): Promise<number> {
    const { rows } = await sql<{ readonly last: number | null }>`
      select max(created_at) as last from (select created_at from create_keys
        where created_at < ${before} order by created_at limit ${sql.lit(FORGOTTEN_MAX)}) as oldest`.execute(this.#db);
    const last = rows[0]?.last ?? null;
    if (last === null) return 0;
    const { numDeletedRows } = await this.#db
      .deleteFrom("create_keys")
      .where("created_at", "<=", last)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  }

  /** Like `#add`. If the reply is lost, nobody holds the key, so its row is removed. */
  async #addOrRemove(
    owner: Owner,
    key: CreateKey,
    row: { readonly worker: number; readonly createdAt: number },
  ): Promise<boolean> {
    try {
      return await this.#add(owner, key, row);
    } catch (error) {
      // The first fault is thrown.
      if (error instanceof StoreBusy) await this.#removeLater({ owner, key, worker: row.worker }, null).catch(() => {});
      throw error;
    }
  }

  async #add(
    owner: Owner,
    key: CreateKey,
    { worker, createdAt }: { readonly worker: number; readonly createdAt: number },
  ): Promise<boolean> {
    const { fingerprint, isKept } = key;
    const fields = { fingerprint, subject_id: null, is_kept: isKept ? 1 : 0, repeats: 0 } as const;
    const { numInsertedOrUpdatedRows } = await this.#db
      .insertInto("create_keys")
      .values({ ...keyColumns(owner, key), ...fields, worker, created_at: createdAt })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  async #findRow(owner: Owner, key: Pick<CreateKey, "operation" | "key">): Promise<KeyRow | undefined> {
    return await this.#db
      .selectFrom("create_keys")
      .selectAll()
      .where((expression) => expression.and(keyColumns(owner, key)))
      .executeTakeFirst();
  }

  #ofKey(owner: Owner, key: CreateKey) {
    return this.#db.updateTable("create_keys").where((expression) => expression.and(keyColumns(owner, key)));
  }

  /**
   * Whether the creator has died before its subject was kept. It is removed from the list of workers first: until then,
   * it may come back to life and store its subject, or its redo log has it.
   */
  async #isFree({ worker, subject_id: subjectId }: KeyRow): Promise<boolean> {
    if (worker === null || (await findLivingWorkers(this.#db, this.#calls)).has(worker)) return false;
    await this.#calls.listUnmadeRuns(); // Removes the dead, unless this worker itself is taken for dead.
    const listed = await this.#db.selectFrom("workers").select("id").where("id", "=", worker).executeTakeFirst();
    if (listed !== undefined) return false;
    return subjectId === null || !(await this.#isStored(subjectId));
  }

  async #isStored(responseId: string): Promise<boolean> {
    const row = await this.#db.selectFrom("responses").select("id").where("id", "=", responseId).executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Removes the row of a holder, at once or when the database is back. Another request to this server may hold the key
   * by then: what it has named is not removed, and otherwise it is told when it names its subject.
   */
  async #removeLater({ owner, key, worker }: ClaimedKey, subjectId: string | null): Promise<void> {
    const removal = this.#db
      .deleteFrom("create_keys")
      .where((expression) => expression.and(keyColumns(owner, key)))
      .where("worker", "=", worker)
      .where((expression) =>
        expression.or([expression("subject_id", "is", null), expression("subject_id", "=", subjectId)]),
      );
    await this.#laterWrites.write(() => removal.execute());
  }

  /** Removes a key of this holder; null for one that is settled. */
  async #remove(owner: Owner, key: CreateKey, worker: number | null): Promise<void> {
    await this.#db
      .deleteFrom("create_keys")
      .where((expression) => expression.and(keyColumns(owner, key)))
      .where("worker", worker === null ? "is" : "=", worker)
      .execute();
  }
}

function lostKey(fingerprint: string, responseId: string): Pick<CreateKey, "operation" | "key"> {
  return { operation: LOST_REPLY, key: `${fingerprint}:${responseId}` };
}

function keyColumns({ organization, project }: Owner, { operation, key }: Pick<CreateKey, "operation" | "key">) {
  return { organization, project, operation, key };
}

type KeyRow = Selectable<CreateKeysTable>;

function subjectOf({ subject_id: subjectId, is_kept: isKept, worker, repeats, answer }: KeyRow): KeyedSubject {
  return { subjectId, isKept: isKept === 1, isOver: worker === null, repeats, answer };
}

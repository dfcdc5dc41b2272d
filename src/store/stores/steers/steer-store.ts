import { assertNever } from "@antiphon/base/assert.ts";
import type { SteerInput } from "@antiphon/contracts/responses-api/types.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import {
  type DueSteers,
  type NewSteer,
  PENDING_STEERS_MAX,
  type SteerEnd,
  type SteerStore,
  type StoredSteer,
} from "@antiphon/domain/steering/steers.ts";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import { dialectal, nowMs, SKIP_LOCKED } from "../../database/dialectal.ts";
import type { Database } from "../../database/schema.ts";
import type { SteersTable } from "../../database/steer-table.ts";
import { storedJson } from "../../database/stored-json.ts";
import { isId } from "../../database/time-first.ts";
import { IS_LIVE } from "../../rows/runs/run-rows.ts";

/** A process claims inputs for this long, in milliseconds. */
const CLAIM_MS = 10_000;
/** In PostgreSQL, a run cannot end while input is added to it. */
const HELD = dialectal(sql``, () => sql`for update`);

type Row = Selectable<SteersTable>;

/** The inputs in the database. The commit that stores a response also marks the inputs that it takes. */
export class StoredSteers implements SteerStore {
  readonly #db: Kysely<Database>;
  #listener: () => void = () => {};

  constructor(db: Kysely<Database>) {
    this.#db = db;
  }

  listen(listener: () => void): void {
    this.#listener = listener;
  }

  /** Says that a response has ended. */
  tell(): void {
    this.#listener();
  }

  async findTask(owner: Owner, responseId: string): Promise<string | null> {
    const row = await this.#db
      .selectFrom("responses")
      .select("task")
      .where(isId("responses.id", responseId))
      .where("organization", "=", owner.organization)
      .where("project", "=", owner.project)
      .where(IS_LIVE)
      .executeTakeFirst();
    return row?.task ?? null;
  }

  async add({ id, owner, responseId, keyId, input, settings }: NewSteer): Promise<StoredSteer | "full" | null> {
    const { organization, project } = owner;
    const createdAt = Math.floor(Date.now() / 1000);
    const waiting = sql<number>`(select count(*) from steers where response_id = ${responseId})`;
    const { rows } = await sql<Row>`
      insert into steers (id, response_id, organization, project, key_id, created_at, input, settings, state, attempts, due_at)
      select ${id}, ${responseId}, organization, project, ${keyId}, ${sql.lit(createdAt)}, ${JSON.stringify(input)},
        ${settings}, 'accepted', 0, 0
      from responses where ${isId("responses.id", responseId)} and organization = ${organization}
        and project = ${project} and ${IS_LIVE} and ${waiting} < ${sql.lit(PENDING_STEERS_MAX)} ${HELD}
      returning *`.execute(this.#db);
    const [row] = rows;
    if (row === undefined) return (await this.findTask(owner, responseId)) === null ? null : "full";
    // After a crash in between, the response ends as it would anyway.
    await this.#db.updateTable("responses").set({ is_steered: 1 }).where(isId("responses.id", responseId)).execute();
    return shownSteer(row);
  }

  list(owner: Owner, responseId: string): Promise<readonly StoredSteer[]> {
    return this.#list(owner, responseId, sql``);
  }

  listPending(owner: Owner, responseId: string): Promise<readonly StoredSteer[]> {
    return this.#list(owner, responseId, sql`and state = 'pending'`);
  }

  async #list(owner: Owner, responseId: string, condition: RawBuilder<unknown>): Promise<readonly StoredSteer[]> {
    const { rows } = await sql<Row>`
      select * from steers where response_id = ${responseId} and organization = ${owner.organization}
        and project = ${owner.project} ${condition} order by number`.execute(this.#db);
    return rows.map(shownSteer);
  }

  async claim(): Promise<DueSteers | null> {
    const { rows } = await sql<Row>`
      update steers set due_at = ${nowMs()} + ${sql.lit(CLAIM_MS)}
      where state = 'accepted' and due_at <= ${nowMs()} and response_id = (
        select response_id from steers join responses on responses.id = steers.response_id
        where state = 'accepted' and steers.due_at <= ${nowMs()} and not (${IS_LIVE})
        order by steers.number limit 1 ${SKIP_LOCKED})
      returning *`.execute(this.#db);
    const steers = rows.toSorted((one, other) => one.number - other.number);
    const last = steers.at(-1);
    if (last === undefined) return null;
    return {
      owner: { organization: last.organization, project: last.project },
      responseId: last.response_id,
      keyId: last.key_id,
      settings: last.settings,
      attempts: last.attempts,
      steers: steers.map(shownSteer),
    };
  }

  async settle({ responseId, steers }: DueSteers, end: SteerEnd): Promise<void> {
    await sql`update steers set ${changeOf(end)} where state = 'accepted' and response_id = ${responseId}
      and id in (${sql.join(steers.map(({ id }) => id))})`.execute(this.#db);
  }
}

function changeOf(end: SteerEnd): RawBuilder<unknown> {
  switch (end.type) {
    case "pending":
      return sql`state = 'pending'`;
    case "failed":
      return sql`state = 'failed', error = ${JSON.stringify(end.error)}`;
    case "again":
      return sql`attempts = attempts + 1, due_at = ${nowMs()} + ${sql.lit(end.pauseMs)}`;
    default:
      return assertNever(end);
  }
}

function shownSteer(row: Row): StoredSteer {
  return {
    id: row.id,
    object: "response.steer",
    created_at: row.created_at,
    error: row.error === null ? null : storedJson<NonNullable<StoredSteer["error"]>>(row.error),
    input: storedJson<SteerInput>(row.input),
    previous_response_id: row.response_id,
    status: row.state,
    successor_id: row.successor_id,
    turn: row.turn,
  };
}

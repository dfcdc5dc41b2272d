import type { Owner } from "@antiphon/domain/owner.ts";
import type { Kysely } from "kysely";
import type { Database } from "../../database/schema.ts";
import { IS_LIVE } from "../../rows/runs/run-rows.ts";

/** The order in which these runs, sorted by age, get places: owners alternate, and their running runs count. */
export function takeTurns<Run extends Owner>(
  waiting: readonly Run[],
  running: ReadonlyMap<string, number>,
): readonly Run[] {
  const places = new Map(running);
  const ranking = waiting.map((run) => {
    const owner = nameOfOwner(run);
    const rank = (places.get(owner) ?? 0) + 1;
    places.set(owner, rank);
    return { run, rank };
  });
  const inTurn = ranking.toSorted((one, other) => one.rank - other.rank); // Equal ones stay in the order of their age.
  return inTurn.map(({ run }) => run);
}

/** A single text for both parts of an owner. */
export function nameOfOwner({ organization, project }: Owner): string {
  return JSON.stringify([organization, project]);
}

/** The number of running background runs per owner. */
export async function countRunning(db: Kysely<Database>): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom("responses")
    .select((expression) => ["organization", "project", expression.fn.countAll<number>().as("count")])
    .where(IS_LIVE)
    .where("worker", "is not", null)
    .where("task", "is not", null)
    .groupBy(["organization", "project"])
    .execute();
  return new Map(rows.map(({ count, ...owner }) => [nameOfOwner(owner), count]));
}

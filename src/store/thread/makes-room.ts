import { textLength } from "../database/text-length.ts";
import type { WriteJob } from "../runs/commits/write-job.ts";
import type { Statement } from "./database-calls.ts";

/** A deletion, or a change that adds no row and little text: many deletions first hold what they are to delete. */
const FREEING = /^\s*(?:delete|update)\b/i;
/** The most characters of the parameters of such a change. */
const CHARACTERS_MAX = 4_096;

/** Whether a statement belongs to a deletion, or adds next to nothing. */
export function makesRoom({ sql, parameters }: Statement): boolean {
  return FREEING.test(sql) && textLength(parameters) <= CHARACTERS_MAX;
}

/** Whether a job of a commit deletes something. */
export function removesData(job: WriteJob): boolean {
  if (job.type === "conversation") return job.step.type === "delete" || job.step.type === "delete_item";
  return job.type === "delete";
}

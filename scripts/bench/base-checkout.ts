import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkOut } from "../check-out.ts";
import { cleanUp, removeFolder } from "./clean-up.ts";

/** The commit before storage left the event loop. */
const BASE_COMMIT = "fe8b6c2";

export interface Checkout {
  readonly root: string;
  /** The commit, short. */
  readonly name: string;
  remove(): void;
}

/** Puts the commit to compare with, which `BENCH_BASE` chooses, into a temporary folder; null if it is `none`. */
export function checkOutBase(): Checkout | null {
  const commit = process.env["BENCH_BASE"] ?? BASE_COMMIT;
  if (commit === "none") return null;
  const root = mkdtempSync(join(tmpdir(), "antiphon-base-"));
  const remove = cleanUp(() => removeFolder(root));
  checkOut(commit, root);
  return { root, name: commit, remove };
}

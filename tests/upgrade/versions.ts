import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { checkOut } from "../../scripts/check-out.ts";

/** `make upgrade-test` sets it: two versions of the server under load take minutes. */
export const isAsked = process.env["ROLLING_UPGRADE"] === "1";

/** A folder with the files of a commit. */
export async function versionOf(commit: string): Promise<string> {
  const folder = await temporaryFolder();
  checkOut(commit, folder);
  return folder;
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-upgrade-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

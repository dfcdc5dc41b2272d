import { checkOut } from "../../scripts/check-out.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";

/** `make upgrade-test` sets it: two versions of the server under load take minutes. */
export const isAsked = process.env["ROLLING_UPGRADE"] === "1";

/** A folder with the files of a commit. */
export async function versionOf(commit: string): Promise<string> {
  const folder = temporaryFolder();
  checkOut(commit, folder);
  return folder;
}

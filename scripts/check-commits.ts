/**
 * Checks the subjects of the branch's commits after `START` against CONTRIBUTING.md. In a shallow clone it checks the
 * commits that are there, and says what is missing.
 */

import { execFileSync } from "node:child_process";
import { subjectFaults } from "./commit-subjects.ts";

/** Older subjects are not checked. */
const START = "0341c21c59dcd34110cdc2b427553828a9b1cfdc";
const LOG_BYTES_MAX = 64 * 1024 * 1024;

if (git(["rev-parse", "--is-inside-work-tree"]) === null) {
  console.log("This is no clone, so there are no subjects of commits to look at.");
} else {
  const knowsStart = git(["cat-file", "-e", `${START}^{commit}`]) !== null;
  const isShallow = git(["rev-parse", "--is-shallow-repository"]) === "true";
  if (!knowsStart)
    console.log(`Commit ${START} is not in this clone, so older subjects cannot be told from newer ones.`);
  if (isShallow) console.log("The clone is shallow: commits beyond its depth were not looked at.");
  if (knowsStart) report(git(["log", "--no-merges", "--format=%h %s", `${START}..HEAD`]) ?? "");
}

function report(log: string): void {
  const lines = log.split("\n").filter((line) => line !== "");
  for (const line of lines) {
    const subject = line.slice(line.indexOf(" ") + 1);
    for (const fault of subjectFaults(subject)) {
      console.log(`${line}: the subject ${fault}`);
      process.exitCode = 1;
    }
  }
  console.log(`Subjects of commits that were looked at: ${lines.length}`);
}

/** The trimmed output of git; null if it fails. */
function git(parameters: readonly string[]): string | null {
  try {
    return execFileSync("git", parameters, {
      encoding: "utf8",
      maxBuffer: LOG_BYTES_MAX,
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return null;
  }
}

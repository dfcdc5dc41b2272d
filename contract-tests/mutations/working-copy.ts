import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { linkInstalled } from "../../scripts/link-installed.ts";
import type { Report } from "../report/checks.ts";
import { type Mutation, withMutation } from "./read-mutations.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Uncommitted files that the tests need. They are linked because they are large. */
const LINKED = [".cache", "dist", "build/pacts"];
/** A few failures are enough to see which suite notices. */
const COMMAND = ["contract-tests/report/run-suites.ts", "--project", "contract-providers", "--bail", "5"];
const RUN_MAX_MS = 10 * 60_000;

/** Turns off the server's check of its own replies, as in production, so that only the suites can notice. */
const UNCHECKED: Mutation = {
  says: "servers do not check their own replies",
  file: "src/config/settings.ts",
  from: 'name: "VALIDATE_REPLIES",\n    section: "Servers",\n    kind: "boolean",\n    default: null,',
  to: 'name: "VALIDATE_REPLIES",\n    section: "Servers",\n    kind: "boolean",\n    default: false,',
};

/** A copy of the repository to which mutations are applied. */
export interface WorkingCopy {
  /**
   * Runs the provider suites whose path contains one of `suites` against the mutated copy. With null the copy is
   * unchanged.
   */
  run(mutation: Mutation | null, suites: readonly string[]): Promise<Report>;
  remove(): void;
}

export function copyRepository(): WorkingCopy {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-broken-"));
  const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  for (const file of files
    .toString()
    .split("\0")
    .filter((name) => name !== "")) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(ROOT, file), join(folder, file));
  }
  mkdirSync(join(folder, "build"), { recursive: true });
  linkInstalled(folder);
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(folder, name));
  const settings = join(folder, UNCHECKED.file);
  writeFileSync(settings, withMutation(readFileSync(settings, "utf8"), UNCHECKED));
  return {
    async run(mutation, suites) {
      if (mutation === null) return runSuites(folder, suites);
      const path = join(folder, mutation.file);
      const whole = readFileSync(path, "utf8");
      writeFileSync(path, withMutation(whole, mutation));
      try {
        return await runSuites(folder, suites);
      } finally {
        writeFileSync(path, whole);
      }
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

async function runSuites(folder: string, suites: readonly string[]): Promise<Report> {
  const report = join(folder, "build/contract-report");
  rmSync(report, { recursive: true, force: true });
  const run = spawn(process.execPath, [...COMMAND, ...suites], {
    cwd: folder,
    stdio: "ignore",
    timeout: RUN_MAX_MS,
  });
  await once(run, "close");
  return JSON.parse(readFileSync(join(report, "report.json"), "utf8"));
}

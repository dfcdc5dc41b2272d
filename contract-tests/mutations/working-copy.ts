import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Report } from "../report/checks.ts";
import { broken, type Mutation } from "./read-mutations.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Made, not committed; large, or needed by what is started. */
const LINKED = ["node_modules", ".cache", "dist", "build/pacts"];
/** A few failures tell who notices. */
const COMMAND = ["contract-tests/report/run-suites.ts", "--project", "contract-providers", "--bail", "5"];
const RUN_MAX_MS = 10 * 60_000;

/** As in production, servers do not check their own replies: the suites have to notice by themselves. */
const UNCHECKED: Mutation = {
  says: "servers do not check their own replies",
  file: "src/config/settings.ts",
  from: 'name: "VALIDATE_REPLIES",\n    section: "Servers",\n    kind: "boolean",\n    default: null,',
  to: 'name: "VALIDATE_REPLIES",\n    section: "Servers",\n    kind: "boolean",\n    default: false,',
};

/** A copy of the repository that can be broken. */
export interface WorkingCopy {
  /**
   * Holds the copy to the contract with this in it; null: as it is. Only the providers' suites whose path has one of
   * these words.
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
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(folder, name));
  const settings = join(folder, UNCHECKED.file);
  writeFileSync(settings, broken(readFileSync(settings, "utf8"), UNCHECKED));
  return {
    async run(mutation, suites) {
      if (mutation === null) return runSuites(folder, suites);
      const path = join(folder, mutation.file);
      const whole = readFileSync(path, "utf8");
      writeFileSync(path, broken(whole, mutation));
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

/**
 * What takes long. `make test` leaves it out, and `make trials` runs only that, on a schedule. `make requirements` says
 * which promises only trials show. This file says what a trial is: whole files here, and cases where this file is
 * imported.
 *
 * The variable `TRIALS` is `short` to leave it out, `only` to run nothing else, and not set to run everything.
 */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

export const isShort = process.env["TRIALS"] === "short";
export const onlyTrials = process.env["TRIALS"] === "only";

/** Each waits for time or for many starts of servers. */
export const TRIALS: readonly string[] = [
  "tests/chat/restart.test.ts",
  "tests/clients/{codex,openai-code,python,python-faces}.test.ts",
  "tests/cluster/{anywhere,trial}.test.ts",
  "tests/containers/{engine-choice,escapes}.test.ts",
  "tests/conversations/crash.test.ts",
  "tests/crash/{code,keyed-calls,open-items,store-thread,tools,upgrade}.test.ts",
  "tests/deploy/{balancer,hand-over,rolling-restart,two-services}.test.ts",
  "tests/docs/pages.test.ts",
  "tests/hostile/{endless-answers,hours-of-sound,linear-time,office,process}.test.ts",
  "tests/local-stt/{hostile-clients,hostile-files}.test.ts",
  "tests/model-faults/waiting-runs.test.ts",
  "tests/nodes/{approvals,claims,keyed-calls,readers,waiting}.test.ts",
  "tests/outages/{broker,database,files,nodes}.test.ts",
  "tests/processes/{deaths,together,vector-stores}.test.ts",
  "tests/vector-stores/{ingest,kill}.test.ts",
];

/** What runs on PostgreSQL, too, but depends less on the store than what `vitest.config.ts` names. */
export const TRIALS_ON_POSTGRES: readonly string[] = [
  "tests/clients/openai-{containers,files,tools,vector-stores}.test.ts",
  "tests/conversations/!(holds).test.ts",
  "tests/crash/{code,keyed-calls,plain-runs,restarts,slow-start,takeover,tools,upgrade}.test.ts",
  "tests/hostile/storage-quota.test.ts",
  "tests/inspection/effects.test.ts",
  "tests/keys/{keys-command,owner-members,owners,rate-limits,retention,routing,vector-store-owners}.test.ts",
  "tests/processes/{deaths,vector-stores}.test.ts",
  "tests/runs/foreground.test.ts",
  "tests/tools/mcp/{approvals,broken-calls,idempotent-calls}.test.ts",
  "tests/vector-stores/{meaning,renewal,kill,ingest}.test.ts",
];

/**
 * Cases of one test that are much alike: all of them, or each `step`-th from `first` on if trials are left out. Both
 * count from 0.
 */
export function someCases<Case>(cases: readonly Case[], step: number, first = 0): readonly Case[] {
  return isShort ? cases.filter((_, index) => index % step === first) : cases;
}

/** A number of kills or steps: as the variable says, else that for the short run if trials are left out. */
export function trialSize(variable: string, { all, short }: { readonly all: number; readonly short: number }): number {
  return Number(process.env[variable] ?? (isShort ? short : all));
}

/** The test files of which `make test` leaves out a part, since they import this one. */
export function shortenedTests(): readonly string[] {
  return globSync("tests/**/*.test.ts", { cwd: ROOT }).filter((file) =>
    readFileSync(join(ROOT, file), "utf8").includes('/trials.ts"'),
  );
}

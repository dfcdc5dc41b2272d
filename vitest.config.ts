import { defineConfig } from "vitest/config";
import { isShort, onlyTrials, shortenedTests, TRIALS, TRIALS_ON_POSTGRES } from "./tests/trials.ts";

/** Long enough for a machine that does other things too; a test that measures time says so itself. */
const TEST_TIMEOUT_MS = 120_000;
const HOOK_TIMEOUT_MS = 120_000;
const POLL_TIMEOUT_MS = 30_000;

/** Reports tell tests apart by their titles, in which names of interactions and events stand. */
const TITLE_CHARACTERS_MAX = 200;

/** Tests wait for a third of their time, so three files at a time use two cores. Vitest by itself would run one there. */
const WORKERS = 3;

/**
 * Whole servers that keep their rows in PostgreSQL instead of SQLite, with the same tests. Those of `src/` choose their
 * stores themselves.
 */
const TESTS_ON_POSTGRES = [
  "tests/clients/openai{,-background,-conversations,-streams}.test.ts",
  "tests/containers/operations.test.ts",
  "tests/conversations/holds.test.ts",
  "tests/crash/kill.test.ts",
  "tests/files/files.test.ts",
  "tests/processes/runs.test.ts",
  "tests/runs/{background,cancel,concurrency,replay}.test.ts",
  "tests/skills/operations.test.ts",
  "tests/vector-stores/operations.test.ts",
  "tests/batches/{batches,crashes}.test.ts",
  "tests/steering/{crashes,pause,steer}.test.ts",
  "tests/webhooks/{crashes,delivery,failures}.test.ts",
];

/** Those of which `make test` leaves out a part. */
const SHORTENED_ON_POSTGRES = ["tests/crash/kill.test.ts", "tests/runs/concurrency.test.ts"];

/** Which of two lists runs: `TRIALS` says whether everyday tests, trials or both do. */
function chosen(everyday: readonly string[], trials: readonly string[]): string[] {
  if (onlyTrials) return [...trials];
  return isShort ? [...everyday] : [...everyday, ...trials];
}

const common = {
  environment: "node",
  testTimeout: TEST_TIMEOUT_MS,
  hookTimeout: HOOK_TIMEOUT_MS,
  expect: { poll: { timeout: POLL_TIMEOUT_MS } },
  taskTitleValueFormatTruncate: TITLE_CHARACTERS_MAX,
} as const;

/**
 * Consumers write `pacts/`, one file after the other; providers are held to what lies there once all of them are done.
 * Vitest runs a group 0 without parallelism after all other groups, so the numbers begin at 1.
 */
export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    projects: [
      {
        test: {
          ...common,
          name: "tests",
          include: chosen(["{src,packages,tests,scripts,web}/**/*.test.ts"], [...TRIALS, ...shortenedTests()]),
          exclude: ["**/node_modules/**", "packages/*/dist/**", ...(isShort ? TRIALS : [])],
          globalSetup: ["tests/services/run-services.ts"],
          provide: { testedStore: "SQLite" },
          isolate: false, // Two hundred files that each read the same modules anew take a third longer.
        },
      },
      {
        test: {
          ...common,
          name: "postgres",
          include: chosen(TESTS_ON_POSTGRES, [...TRIALS_ON_POSTGRES, ...SHORTENED_ON_POSTGRES]),
          globalSetup: ["tests/services/run-services.ts"],
          setupFiles: ["tests/services/skip-without-postgres.ts"],
          provide: { testedStore: "PostgreSQL" },
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          name: "contract-consumers",
          include: ["contract-tests/**/*.consumer.test.ts"],
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...common,
          name: "contract-providers",
          include: ["contract-tests/**/*.provider.test.ts"],
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

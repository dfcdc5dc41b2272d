import { writeFile } from "node:fs/promises";
import { relative } from "node:path";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** A failed file of one project, with what its tests printed as errors. */
export interface FailedFile {
  readonly project: string;
  /** Relative to the working directory. */
  readonly file: string;
  readonly errors: readonly string[];
}

export interface RunOutcome {
  readonly failedFiles: readonly FailedFile[];
  /** Errors that belong to no test, so no second run of a file can clear them. */
  readonly unhandledErrors: number;
}

/** Names the file that the reporter writes. */
export const OUTCOME_VARIABLE = "RUN_TESTS_OUTCOME";

/** A reporter of Vitest that writes a RunOutcome as JSON to the file in RUN_TESTS_OUTCOME. */
export default class FailedFilesReporter implements Reporter {
  async onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Promise<void> {
    const file = process.env[OUTCOME_VARIABLE];
    if (file === undefined) return;
    const failedFiles = modules.filter((module) => !module.ok()).map(describeFailure);
    const outcome: RunOutcome = { failedFiles, unhandledErrors: unhandled.length };
    await writeFile(file, JSON.stringify(outcome));
  }
}

function describeFailure(module: TestModule): FailedFile {
  const errors = module.errors().map(({ message }) => message);
  for (const test of module.children.allTests("failed")) {
    for (const { message, stack } of test.result().errors ?? []) errors.push(`${test.fullName}: ${stack ?? message}`);
  }
  return { project: module.project.name, file: relative(process.cwd(), module.moduleId), errors };
}

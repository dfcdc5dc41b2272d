import { beforeEach, type TaskMeta, TestRunner } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Ids of `specs/requirements.yaml`, stored in the reports of test runs. */
    verifies?: readonly string[];
  }
}

/**
 * Cites the requirements of `specs/requirements.yaml` that a test proves. Outside of a test, every test of the
 * surrounding describe proves them. Concurrent tests must cite in their describe. `scripts/requirements-coverage.ts`
 * reads the calls and the reports of passed tests.
 */
export function verifies(...ids: readonly [string, ...string[]]): void {
  const test = TestRunner.getCurrentTest();
  if (test === undefined) beforeEach(({ task }) => cite(task, ids));
  else cite(test, ids);
}

function cite({ meta }: { readonly meta: TaskMeta }, ids: readonly string[]): void {
  meta.verifies = [...(meta.verifies ?? []), ...ids];
}

import { beforeEach, type TaskMeta, TestRunner } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Ids of `specs/requirements.yaml`; reports of test runs carry them. */
    verifies?: readonly string[];
  }
}

/**
 * Cites the requirements of `specs/requirements.yaml` that a test proves; outside of a test, those that every test of
 * the surrounding describe proves. A test that runs among others at once cites from its describe.
 * `scripts/requirements-coverage.ts` reads the calls, and the reports of what passed.
 */
export function verifies(...ids: readonly [string, ...string[]]): void {
  const test = TestRunner.getCurrentTest();
  if (test === undefined) beforeEach(({ task }) => cite(task, ids));
  else cite(test, ids);
}

function cite({ meta }: { readonly meta: TaskMeta }, ids: readonly string[]): void {
  meta.verifies = [...(meta.verifies ?? []), ...ids];
}

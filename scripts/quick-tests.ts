/**
 * Prints the test files that `make test-quick` runs: those of pure code, and a few of one whole server. A test is of
 * pure code if neither it nor what it shares with other tests starts a server, a database or another program. Tests
 * that make up thousands of values are left out, too: they take as long as all others.
 */

import { globSync, readFileSync } from "node:fs";
import { type Module, readModule } from "./import-graph.ts";

const PURE = "{src,packages,scripts,web}/**/*.test.ts";
const OF_ONE_SERVER = "tests/responses/{stored-state,stream-*}.test.ts";
/** What a test of pure code does not reach through the files of tests. */
const COSTLY =
  /^(node:child_process|node:worker_threads|npm:(playwright.*|fast-check)|tests\/services\/.*|tests\/kit\/.*server[.]ts)$/;
/** What belongs to tests alone. The product may reach anything. */
const OF_TESTS = /^tests\/|[.]fixture[.]ts$|[.]test[.]ts$/;

const modules = new Map<string, Module>();

console.log([...globSync(PURE).filter(isPure), ...globSync(OF_ONE_SERVER)].toSorted().join("\n"));

function isPure(test: string): boolean {
  const seen = new Set([test]);
  for (const path of seen) {
    for (const { to, isType } of moduleAt(path).imports) {
      if (isType) continue;
      if (COSTLY.test(to)) return false;
      if (OF_TESTS.test(to)) seen.add(to);
    }
  }
  return true;
}

function moduleAt(path: string): Module {
  const known = modules.get(path) ?? readModule({ path, code: readFileSync(path, "utf8") });
  modules.set(path, known);
  return known;
}

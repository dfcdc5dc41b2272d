import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPassedCitations } from "./passed-citations.ts";

const ROOT = join(import.meta.dirname, "..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/** Uses another function name, so that this file itself cites nothing. */
const TESTS = `
import { describe, test } from "vitest";
import { verifies as cites } from "../../tests/verifies.ts";
test("passes", () => cites("a.b.passes", "a.b.twice"));
test("fails", () => {
  cites("a.b.fails");
  throw new Error();
});
test.skip("is skipped", () => cites("a.b.skipped"));
test("skips itself", ({ skip }) => {
  cites("a.b.skips-itself");
  skip();
});
test("stops before", () => {
  if (process.pid > 0) return;
  cites("a.b.not-reached");
});
describe("all", () => {
  cites("a.b.of-all");
  test("one", () => cites("a.b.twice"));
  test("two", () => {});
  describe("inner", () => test("three", () => {}));
});
describe("none", () => {
  cites("a.b.of-none");
  test.skip("is skipped too", () => {});
});
`;

test("a real run tells what its passed tests cited, and nothing else", async () => {
  mkdirSync(join(ROOT, "build"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, "build/citations-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.test.ts"), TESTS);
  const report = join(folder, "report.json");
  await new Promise((resolve) => {
    const options = ["run", "--root", folder, "--reporter=json", `--outputFile=${report}`];
    execFile(process.execPath, [VITEST, ...options], { cwd: folder, env: { PATH: process.env["PATH"] } }, resolve);
  });
  expect(Object.fromEntries(readPassedCitations([readFileSync(report, "utf8")]))).toEqual({
    "a.b.passes": ["passes"],
    "a.b.twice": ["passes", "all one"],
    "a.b.of-all": ["all one", "all two", "all inner three"],
  });
});

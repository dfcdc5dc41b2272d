import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const PROJECTS = ["tests", "postgres"];
const CONFIG = `export default {
  test: { projects: ${JSON.stringify(PROJECTS)}.map((name) => ({ test: { name, globals: true, include: [name + "/*.test.js"] } })) },
};`;
/** Fails where no file stands beside it, and leaves one. */
const FAILS_ONCE = `
import { existsSync, writeFileSync } from "node:fs";
test("passes alone", () => {
  const file = import.meta.filename + ".ran";
  if (existsSync(file)) return;
  writeFileSync(file, "");
  throw new Error("too busy");
});`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "antiphon-run-tests-"));
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  await writeFile(join(folder, "vitest.config.js"), CONFIG);
  for (const project of PROJECTS) await mkdir(join(folder, project));
  await writeFile(join(folder, "postgres/passes.test.js"), 'test("passes", () => {});');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a file that passes alone is passed and flaky, and its first error is printed", async () => {
  await writeFile(join(folder, "tests/once.test.js"), FAILS_ONCE);
  const { code, output } = await runTests();
  expect(code).toBe(0);
  expect(output).toContain("Flaky: tests/once.test.js (tests)");
  expect(output).toContain("too busy");
  const { flaky, numPassedTests, numFailedTests, success } = await readReport();
  expect({ flaky, numPassedTests, numFailedTests, success }).toEqual({
    flaky: ["tests/once.test.js"],
    numPassedTests: 2,
    numFailedTests: 0,
    success: true,
  });
  await rm(join(folder, "tests/once.test.js"));
});

test("a file that fails alone, too, fails the run", async () => {
  await writeFile(join(folder, "tests/never.test.js"), 'test("fails", () => { throw new Error("wrong"); });');
  await writeFile(join(folder, "tests/once.test.js"), FAILS_ONCE);
  await rm(join(folder, "tests/once.test.js.ran"));
  expect((await runTests()).code).toBe(1);
  const { flaky, numPassedTests, numFailedTests, success } = await readReport();
  expect({ flaky, numPassedTests, numFailedTests, success }).toEqual({
    flaky: ["tests/once.test.js"],
    numPassedTests: 2,
    numFailedTests: 1,
    success: false,
  });
});

async function runTests(): Promise<{ code: unknown; output: string }> {
  const PATH = `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
  const run = spawn(process.execPath, [join(ROOT, "scripts/run-tests.ts")], {
    cwd: folder,
    env: { ...process.env, PATH },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [output, [code]] = await Promise.all([text(run.stdout), once(run, "close")]);
  return { code, output };
}

async function readReport() {
  return JSON.parse(await readFile(join(folder, "build/test-results/tests.json"), "utf8"));
}

import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { broken, readMutations } from "./read-mutations.ts";

const ROOT = join(import.meta.dirname, "../..");
const mutations = readMutations();

test("there are at least forty breakages", () => {
  expect(mutations.length).toBeGreaterThanOrEqual(40);
});

test.each(mutations)("the place where $says is still there, and the breakage is a program", (mutation) => {
  const text = readFileSync(join(ROOT, mutation.file), "utf8");
  const changed = broken(text, mutation);
  expect(changed).not.toBe(text);
  expect(() => stripTypeScriptTypes(changed)).not.toThrow();
});

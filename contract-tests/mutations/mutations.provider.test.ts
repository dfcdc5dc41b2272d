import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readMutations, withMutation } from "./read-mutations.ts";

const ROOT = join(import.meta.dirname, "../..");
const mutations = readMutations();

test("there are at least forty mutations", () => {
  expect(mutations.length).toBeGreaterThanOrEqual(40);
});

test.each(mutations)("still applies and gives valid code: $says", (mutation) => {
  const text = readFileSync(join(ROOT, mutation.file), "utf8");
  const changed = withMutation(text, mutation);
  expect(changed).not.toBe(text);
  expect(() => stripTypeScriptTypes(changed)).not.toThrow();
});

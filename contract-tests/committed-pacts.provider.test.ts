import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readMergedPacts } from "./merged-pacts.fixture.ts";
import { COMMITTED_DIR } from "./pact-files.fixture.ts";

const mergedPacts = readMergedPacts();

test("there is a committed pact for exactly those providers for which consumers write one", () => {
  expect(readdirSync(COMMITTED_DIR).toSorted()).toEqual([...mergedPacts.keys()].toSorted());
});

test.each([...mergedPacts])("%s equals what consumers write (make pacts updates it)", (name, text) => {
  expect(readFileSync(join(COMMITTED_DIR, name), "utf8")).toBe(text);
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { COMMITTED_DIR, PACTS_DIR, tidyPact } from "./pact-files.fixture.ts";

const written = readdirSync(PACTS_DIR).filter((name) => name.endsWith(".json"));

test("the committed pacts are exactly those that consumers write", () => {
  expect(readdirSync(COMMITTED_DIR).toSorted()).toEqual(written.toSorted());
});

test.each(written)("%s equals what consumers write (make pacts updates it)", (name) => {
  expect(readFileSync(join(COMMITTED_DIR, name), "utf8")).toBe(tidyPact(readFileSync(join(PACTS_DIR, name), "utf8")));
});

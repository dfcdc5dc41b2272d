import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

const ROOT = resolve(import.meta.dirname, "../..");
const Lock = z.object({
  packages: z.record(z.string(), z.object({ optionalDependencies: z.record(z.string(), z.string()).optional() })),
});

test.each([
  "package-lock.json",
  "scripts/codegen/package-lock.json",
  "scripts/docs-site/package-lock.json",
  "web/package-lock.json",
  "tests/clients/codex/package-lock.json",
  "tests/clients/cline/package-lock.json",
])("%s names every optional package, also those of other systems: npm ci refuses it otherwise", (path) => {
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(ROOT, path), "utf8")));
  const names = new Set(Object.keys(packages).map((place) => place.slice(place.lastIndexOf("node_modules/") + 13)));
  const missing = Object.entries(packages).flatMap(([place, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).flatMap((name) => (names.has(name) ? [] : [`${name}, of ${place}`])),
  );
  expect(missing).toEqual([]);
});

test("the pages are built by the same packages in an install of the server alone", () => {
  const Package = z.object({ devDependencies: z.record(z.string(), z.string()) });
  const read = (path: string) => Package.parse(JSON.parse(readFileSync(join(ROOT, path), "utf8"))).devDependencies;
  const ofTests = read("package.json");
  const ofPages = Object.entries(read("web/package.json"));
  expect(ofPages.map(([name]) => name)).toEqual(["react", "react-dom", "vite"]);
  for (const [name, version] of ofPages) expect([name, version]).toEqual([name, ofTests[name]]);
});

import { expect, test } from "vitest";
import { declaredNames, isBareParticiple } from "./declared-names.ts";
import { measureStructure } from "./measures.ts";

function measured(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const sources = Object.entries(files).map(([path, code]) => ({ path, code }));
  return Object.fromEntries(measureStructure(sources, ["{\n}\n"]).map(({ title, value }) => [title, value]));
}

test("what is measured of sources", () => {
  const text = "export function textOf() {}\n";
  const table = measured({
    "src/a/one.ts": `import "../b/two.ts";\n${text}`,
    "src/b/two.ts": text,
    "src/b/three.ts": `import "../a/four.ts";\nimport type { Port } from "../ports.ts";\n${text}`,
    "src/a/four.ts": `${text}export interface RunParts {\n  readonly one: 1;\n  readonly two: 2;\n}\n`,
    "src/ports.ts": "export interface Port {}\nconst [one, two] = [1, 2];\n",
    "src/a/one.test.ts": 'import "../b/two.ts";\n',
    "tests/a.ts": "const a = 1;\n",
  });
  expect(table).toEqual({
    "knots of folders (folders in each)": "1 (2)",
    "members of the largest context": "2 (RunParts)",
    "importers of the largest file of ports": "1 (src/ports.ts, 2 lines)",
    "lines of src and packages, without tests": "13",
    "lines of tests": "2",
    "lines of pacts": "2",
    "names that are a bare participle": "0.0 %",
    "statements that give several names values": "1",
    "function names in more than three files": "1",
  });
});

test("names that a file declares", () => {
  const code = `
    function told({ seen, other: kept }: Made, [first = 1, ...others]: number[]) {}
    const ask = (asked: string) => asked;
    class Sent { #held = 1; private constructor(readonly made: string) {} get stored() { return 1; } }
    interface Made { readonly given: string; said(word: string): void }`;
  expect([...declaredNames("a.ts", code)].toSorted()).toEqual(
    [
      "told",
      "seen",
      "kept",
      "first",
      "others",
      "ask",
      "asked",
      "held",
      "constructor",
      "made",
      "stored",
      "given",
      "said",
    ].toSorted(),
  );
});

test.each(["told", "stored", "kept"])("%s is a bare participle", (name) => {
  expect(isBareParticiple(name)).toBe(true);
});

test.each(["need", "isStored", "storedText", "thread", "red"])("%s is none", (name) => {
  expect(isBareParticiple(name)).toBe(false);
});

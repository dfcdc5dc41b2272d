import { expect, test } from "vitest";
import { anchorOf, deadLinks, unlistedPages } from "./markdown-links.ts";

const OTHERS = [
  { path: "docs/b.md", text: "# Title\n\n## Where `code` runs, and why\n\n## web_search" },
  { path: "src/main.ts", text: "" },
];

test.each<[string, readonly string[]]>([
  ["[b](b.md)", []],
  ["[b](b.md#where-code-runs-and-why)", []],
  ["[b](b.md#web_search)", []],
  ["[source](../src/main.ts), [folder](../src/)", []],
  ["[elsewhere](https://example.com/x)", []],
  ["## Here\n\n[here](#here)", []],
  ["`[not](a-link.md)`\n\n```md\n[nor](this.md)\n```", []],
  ["[c](c.md)", ["docs/a.md links to c.md"]],
  ["[b](b.md#nowhere)", ["docs/a.md links to b.md#nowhere, which has no such heading"]],
  ["![picture](images/none.png)", ["docs/a.md links to images/none.png"]],
])("links of %j", (text, faults) => {
  expect(deadLinks([{ path: "docs/a.md", text }, ...OTHERS])).toEqual(faults);
});

test("a page that docs/index.md does not list is named", () => {
  const index = { path: "docs/index.md", text: "[b](b.md)" };
  expect(unlistedPages([index, ...OTHERS, { path: "docs/a.md", text: "" }])).toEqual(["docs/a.md"]);
});

test("a heading's id keeps letters, digits, hyphens and underscores", () => {
  expect(anchorOf("Several servers, one [database](x.md)")).toBe("several-servers-one-database");
});

import { expect, test } from "vitest";
import { llmsIndex, llmsText } from "./llms-text.ts";
import { readOutline } from "./outline.ts";
import { sitePath, siteText } from "./site-pages.ts";

const INDEX = `# Antiphon

## Use it

| | |
|---|---|
| [Tools](tools.md), [speech](#live) | what runs here |
| \`specs/\` | no page |
`;

test("docs/index.md is the outline of the site", () => {
  expect(readOutline(INDEX)).toEqual([
    { title: "Use it", pages: [{ title: "Tools", link: "tools.md", about: "what runs here" }] },
  ]);
});

test.each([
  ["docs/tools.md", "tools.md"],
  ["docs/images/inspector.png", "images/inspector.png"],
  ["ARCHITECTURE.md", "architecture.md"],
  ["src/main.ts", null],
])("%s lies at %s in the site", (path, place) => {
  expect(sitePath(path)).toBe(place);
});

test.each([
  ["docs/tools.md", "[map](../ARCHITECTURE.md#glossary)", "[map](./architecture.md#glossary)"],
  ["docs/decisions/a.md", "[tools](../tools.md)", "[tools](../tools.md)"],
  ["CONTRIBUTING.md", "[tools](docs/tools.md)", "[tools](./tools.md)"],
  ["docs/index.md", "![picture](images/a.png)", "![picture](./images/a.png)"],
  ["docs/deploy.md", "[the file](../deploy/a.service)", "the file (`deploy/a.service`)"],
  ["docs/a.md", "[there](https://example.com), [here](#here)", "[there](https://example.com), [here](#here)"],
  ["docs/a.md", "`[not](a.md)`", "`[not](a.md)`"],
  ["docs/a.md", "<!-- not run: no network -->\n\ntext", "text"],
])("in %s, %s is shown as %s", (path, markdown, shown) => {
  expect(siteText(path, markdown)).toBe(shown);
});

test("llms.txt lists each page with its address and what it is about", () => {
  expect(llmsIndex(readOutline(INDEX), (link) => `/${link}`)).toMatch(
    /^# Antiphon\n\n> .+\n\n## Use it\n\n- \[Tools\]\(\/tools\.md\): what runs here\n$/,
  );
});

test("llms-full.txt holds the text of each page behind its address", () => {
  expect(llmsText([{ address: "/tools.md", text: "# Tools\n" }])).toMatch(/\n<!-- \/tools\.md -->\n\n# Tools\n$/);
});

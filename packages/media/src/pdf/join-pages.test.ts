import { expect, test } from "vitest";
import { cpuMsOf } from "../../../../tests/kit/cpu-time.ts";
import { joinPages, type PageLine } from "./join-pages.ts";

/** The lines of a page from its top, 12 points apart. A number before a text is the height of its letters. */
function page(...texts: readonly (string | readonly [size: number, text: string])[]): readonly PageLine[] {
  return texts.map((line, index) => {
    const [size, text] = typeof line === "string" ? [10, line] : line;
    return { text, size, y: 760 - 12 * index };
  });
}

const BODY = "Herons wait in shallow water and strike at fish that pass by.";

test("running headers and footers are left out, with the numbers of their pages", () => {
  const texts = ["One", "Two", "Three", "Four"];
  const pages = texts.map((text, index) =>
    page("Annual report 2024", `${text} begins.`, BODY, `${text} ends.`, `Page ${index + 7} of 40`),
  );
  const { text } = joinPages(pages);
  expect(text).toBe(texts.map((name) => `${name} begins.\n${BODY}\n${name} ends.`).join("\n\n"));
});

test("headers of left and right pages are left out too, but not lines of the text that stand elsewhere", () => {
  const pages = Array.from({ length: 8 }, (_, index) =>
    page(index % 2 === 0 ? "Herons" : "All birds", `Line ${index * index}.`, "a", "b", "c", "Note.", "d", "e", "f"),
  );
  const { text } = joinPages(pages);
  expect(text).not.toMatch(/^(Herons|All birds)$/m);
  expect(text.match(/^Note\.$/gm)).toHaveLength(8);
});

test.each([
  ["a page that has nothing else", [page("Fox 1"), page("Fox 2"), page("Fox 3")], "Fox 1\n\nFox 2\n\nFox 3"],
  ["few pages", [page("Top", "One."), page("Top", "Two.")], "Top\nOne.\n\nTop\nTwo."],
  ["lines that differ", [page("Ann", "1."), page("Ben", "4."), page("Cleo", "2.")], "Ann\n1.\n\nBen\n4.\n\nCleo\n2."],
])("%s keeps its lines", (_name, pages, text) => {
  expect(joinPages(pages)).toEqual({ text, isMarked: false });
});

test("hyphenated words are joined, within a page and over its end", () => {
  const pages = [
    page("The shal-", "low water and the well-", "known heron, a well-known bird, in Baden-", "Baden, wa-"),
    page("ter."),
  ];
  expect(joinPages(pages).text).toBe(
    "The shallow water and the well-known heron, a well-known bird, in Baden-\nBaden, water.",
  );
});

test("lines in larger letters are headings, by their size", () => {
  const pages = [
    page([20, "All about"], [20, "herons"], BODY, BODY, [14, "Where they live"], BODY, [10.2, "By the water."]),
    page([14, "What they eat"], BODY, BODY, [30, "* * *"], BODY),
  ];
  expect(joinPages(pages)).toEqual({
    isMarked: true,
    text: `# All about herons\n${BODY}\n${BODY}\n\n## Where they live\n${BODY}\nBy the water.\n\n## What they eat\n${BODY}\n${BODY}\n* * *\n${BODY}`,
  });
});

test("where most is written in large letters, nothing is a heading", () => {
  const slides = [
    page([30, "Herons and other large birds"], "wait"),
    page([30, "Ducks and other small birds"], "swim"),
  ];
  expect(joinPages(slides).isMarked).toBe(false);
});

test("a document of many pages takes seconds", async () => {
  const pages = Array.from({ length: 3_000 }, (_, index) =>
    page("Top", ...Array.from({ length: 40 }, () => BODY), `${index}`),
  );
  const { ms } = await cpuMsOf(() => expect(joinPages(pages).text.length).toBeGreaterThan(3_000 * 36 * 60));
  expect(ms).toBeLessThan(5_000);
});

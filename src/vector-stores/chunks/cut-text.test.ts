import { counterFor } from "@antiphon/tokenizers/count-texts.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { cpuMsOf } from "../../../tests/kit/cpu-time.ts";
import { type CutOptions, cutText, type TextRange, TooManyTokens } from "./cut-text.ts";

const count = await counterFor("o200k_base");
const words = (text: string): number => text.match(/\S+\s*|\s+/g)?.length ?? 0;

function cut(text: string, options: Partial<CutOptions> = {}): readonly TextRange[] {
  const usual = { sizeMax: 100, overlapMax: 50, tokensMax: 5_000_000, layout: "marked", count } as const;
  return [...cutText(text, { ...usual, ...options })];
}

const piece = fc.oneof(
  fc.lorem({ mode: "sentences", maxCount: 6 }),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom("\n", "\n\n", "# Above\n", "## Below\n\n", "。", "漢字の文章です。", "👩‍👩‍👧", " ", "\t", "```\n"),
  fc.integer({ min: 1, max: 900 }).map((length) => "x".repeat(length)),
);
const texts = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
const layouts = fc.constantFrom("plain", "marked", "sheets", "table");
const sizes = fc
  .record({ sizeMax: fc.integer({ min: 100, max: 400 }), share: fc.double({ min: 0, max: 0.5, noNaN: true }) })
  .map(({ sizeMax, share }) => ({ sizeMax, overlapMax: Math.floor(sizeMax * share) }));

test("chunks cover the whole text, in order, and never cut a pair of surrogates", () => {
  fc.assert(
    fc.property(texts, sizes, layouts, (text, { sizeMax, overlapMax }, layout) => {
      const ranges = cut(text, { sizeMax, overlapMax, layout });
      let covered = 0;
      let begun = -1;
      for (const { start, end } of ranges) {
        expect(start).toBeLessThanOrEqual(covered);
        expect(start).toBeGreaterThan(begun);
        expect(end).toBeGreaterThan(covered);
        for (const place of [start, end])
          expect(text.slice(place - 1, place + 1)).not.toMatch(/^[\ud800-\udbff][\udc00-\udfff]$/);
        [covered, begun] = [end, start];
      }
      expect(covered).toBe(text.length);
    }),
  );
});

test("chunks hold their size and repeat what was asked for", () => {
  const prose = fc.array(fc.lorem({ mode: "sentences", maxCount: 8 }), { minLength: 20, maxLength: 80 });
  fc.assert(
    fc.property(prose, sizes, (paragraphs, { sizeMax, overlapMax }) => {
      const text = paragraphs.join("\n\n");
      const ranges = cut(text, { sizeMax, overlapMax });
      for (const [index, { start, end }] of ranges.entries()) {
        expect(count(text.slice(start, end))).toBeLessThanOrEqual(sizeMax);
        const before = ranges[index - 1];
        if (before === undefined) continue;
        const repeated = count(text.slice(start, before.end));
        expect(repeated).toBeLessThanOrEqual(overlapMax);
        if (overlapMax >= 32) expect(repeated).toBeGreaterThanOrEqual(overlapMax / 2 - 4);
        // At least half of what may be new is new.
        expect(count(text.slice(before.start, start))).toBeGreaterThanOrEqual((sizeMax - overlapMax) / 2 - 8);
      }
    }),
    { numRuns: 40 },
  );
});

test.each([
  ["before a heading", `${"One two three. ".repeat(20)}\n## Next\n${"Four five. ".repeat(20)}`, "## Next"],
  ["at a blank line", `${"One two three. ".repeat(20)}\n\nHere. ${"Four five. ".repeat(20)}`, "Here."],
  ["at the end of a sentence", "one two three four. ".repeat(40), "one"],
  ["at the end of a sentence without spaces", "一二三四五六七。".repeat(60), "一"],
])("a chunk ends %s", (_where, text, next) => {
  const [first] = cut(text, { overlapMax: 0, sizeMax: 100 });
  expect(text.slice(first?.end).trimStart().startsWith(next)).toBe(true);
});

test("a chunk knows the headings above it", () => {
  const body = "Some words of a body. ".repeat(30);
  const text = `# Book\n\n${body}\n## One\n\n${body}\n### Deep\n\n${body}\n## Two ##\n${body}\n\`\`\`\n# code\n${body}\n\`\`\`\n`;
  const ranges = cut(text, { overlapMax: 0 });
  const paths = new Set(ranges.map(({ headings }) => headings.join(" > ")));
  expect([...paths]).toEqual(["", "Book", "Book > One", "Book > One > Deep", "Book > Two"]);
  expect(cut(text, { layout: "plain" }).every(({ headings }) => headings.length === 0)).toBe(true);
});

const ROWS = Array.from({ length: 120 }, (_, row) => [`id-${row}`, `Mr. Smith ${row}`, String(row * 7)]);

test.each([
  ["table", "csv", ["id,name,sum", ...ROWS.map((row) => row.join(","))], "id,name,sum"],
  ["table", "csv below its title", ["My sales", "id;name;sum", ...ROWS.map((row) => row.join(";"))], "id;name;sum"],
  ["sheets", "a workbook", ["## Sales", "id\tname\tsum", ...ROWS.map((row) => row.join("\t"))], "id\tname\tsum"],
  [
    "marked",
    "Markdown",
    ["| id | name |", "|---|---|", ...ROWS.map((row) => `| ${row.join(" | ")} |`)],
    "| id | name |",
  ],
] as const)(
  "of a %s, a chunk begins with a row of %s and knows the names of its columns",
  (layout, _name, lines, head) => {
    const text = `${lines.join("\n")}\n`;
    const ranges = cut(text, { layout });
    expect(ranges.length).toBeGreaterThan(5);
    expect(ranges.map(({ columns }) => columns)).toEqual([null, ...ranges.slice(1).map(() => head)]);
    for (const { start } of ranges) expect(text[start - 1] ?? "\n").toBe("\n");
  },
);

test("a chunk outside of tables has no columns", () => {
  const text = `| a | b |\n| 1 | 2 |\n\n${"Some words of a body. ".repeat(60)}\n\n| c | d |\n${"| 3 | 4 |\n".repeat(60)}`;
  const columns = cut(text, { overlapMax: 0 }).map((range) => range.columns);
  expect([...new Set(columns)]).toEqual([null, "| c | d |"]);
});

test("the rows of each sheet have the columns of their own sheet", () => {
  const sheet = (name: string): string => `## ${name}\nkey ${name}\tvalue\n${"row\t1\n".repeat(80)}\n`;
  const ranges = cut(sheet("A") + sheet("B"), { layout: "sheets", overlapMax: 0 });
  const pairs = ranges.flatMap(({ headings, columns }) => (columns === null ? [] : [`${headings.join()} ${columns}`]));
  expect([...new Set(pairs)]).toEqual(["A key A\tvalue", "B key B\tvalue"]);
});

test("a chunk never ends with a heading", () => {
  const text = `${"Some words of a body. ".repeat(12)}\n\n# Heading\n\n`.repeat(20);
  for (const { end } of cut(text).slice(0, -1)) expect(text.slice(0, end).trimEnd()).not.toMatch(/# Heading$/);
});

test("a text with too many tokens is refused", () => {
  expect(() => cut("one two three ".repeat(100), { tokensMax: 200 })).toThrow(TooManyTokens);
});

test.each([
  ["one line without spaces", "x"],
  ["one line of words", "word "],
  ["empty lines", "\n"],
  ["headings", "# a\n"],
  ["unclosed marks", "## "],
  ["sentence ends", ". "],
])("%s take time that grows with their length alone", async (_name, unit) => {
  const timeOf = async (length: number): Promise<number> => {
    const text = unit.repeat(length / unit.length);
    const { ms } = await cpuMsOf(
      () => cut(text, { sizeMax: 800, overlapMax: 400, tokensMax: 1e9, count: words }).length,
    );
    return ms;
  };
  await timeOf(50_000);
  expect(await timeOf(800_000)).toBeLessThan(12 * Math.max(await timeOf(200_000), 20));
});

import { expect, test } from "vitest";
import { cutTables } from "./prose-table.ts";

test("a table is read with its alignments, between the lines around it", () => {
  const text =
    "Prices:\n| Model | Price |\n|:--|--:|\n| atlas | 2 |\n| `a\\|b` | **3** | extra |\n| mini |\nThat is all.";
  expect(cutTables(text)).toEqual([
    { text: "Prices:" },
    {
      table: {
        head: ["Model", "Price"],
        alignments: ["left", "right"],
        rows: [
          ["atlas", "2"],
          ["`a|b`", "**3**"],
          ["mini", ""],
        ],
      },
    },
    { text: "That is all." },
  ]);
});

test("a table needs no pipes at its sides", () => {
  expect(cutTables("a | b\n--- | :-:\n1 | 2")).toEqual([
    { table: { head: ["a", "b"], alignments: [null, "center"], rows: [["1", "2"]] } },
  ]);
});

test.each([
  ["a line with a pipe", "a | b\nc | d"],
  ["a head with fewer cells than the line below it", "| a |\n|---|---|"],
  ["a heading above a rule", "a\n---\nb"],
  ["a head that is still being written", "| a | b |"],
])("%s is text", (_, text) => {
  expect(cutTables(text)).toEqual([{ text }]);
});

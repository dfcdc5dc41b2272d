import { expect, test } from "vitest";
import { diffTexts } from "./word-diff.ts";

test("words that only one side has are marked", () => {
  expect(diffTexts("It is 18 degrees.", "It is 21 degrees.")).toEqual([
    { in: "both", text: "It is " },
    { in: "left", text: "18" },
    { in: "right", text: "21" },
    { in: "both", text: " degrees." },
  ]);
});

test("each side of a difference reads as it was", () => {
  const left = "one two three four five";
  const right = "zero two three five six seven";
  const stretches = diffTexts(left, right);
  const side = (name: string): string =>
    stretches
      .filter((stretch) => stretch.in === "both" || stretch.in === name)
      .map(({ text }) => text)
      .join("");
  expect([side("left"), side("right")]).toEqual([left, right]);
});

test("long texts are compared by lines", () => {
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index} of many\n`);
  const changed = lines.with(500, "another line\n");
  expect(diffTexts(lines.join(""), changed.join("")).filter((stretch) => stretch.in !== "both")).toEqual([
    { in: "left", text: "line 500 of many\n" },
    { in: "right", text: "another line\n" },
  ]);
});

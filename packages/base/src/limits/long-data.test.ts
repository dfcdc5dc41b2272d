import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { base64Form, decodeAs, decodeBase64, encodeBase64, sha256 } from "./long-data.ts";

test.each([
  ["", "plain"],
  ["AAAA", "plain"],
  ["AAA=", "plain"],
  ["AA==", "plain"],
  ["AAA", "plain"],
  ["AA\nAA\r\n", "loose"],
  ["AA== \n", "loose"],
  ["-_-_", "loose"],
  ["A", null],
  ["AAAAA", null],
  ["AA=A", null],
  ["AA=\n=", null],
  ["AAA!", null],
  ["====", null],
])("the form of %j is %s", async (text, expected) => expect(await base64Form(text)).toBe(expected));

function inLines(text: string, lineLength: number): string {
  let lines = "";
  for (let start = 0; start < text.length; start += lineLength) lines += `${text.slice(start, start + lineLength)}\r\n`;
  return lines;
}

test("base64 of megabytes is decoded as a whole would be, also with line breaks at any place", async () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 50 }).map((unit) => Buffer.alloc(2_000_003, unit));
  const property = fc.asyncProperty(bytes, fc.integer({ min: 1, max: 1_000_000 }), async (sample, lineLength) => {
    const base64 = sample.toString("base64");
    expect((await encodeBase64(sample)) === base64).toBe(true);
    expect((await decodeBase64(base64)).equals(sample)).toBe(true);
    const lines = inLines(base64, lineLength);
    expect(await base64Form(lines)).toBe("loose");
    expect((await decodeBase64(lines)).equals(sample)).toBe(true);
    expect(await sha256(sample)).toBe(createHash("sha256").update(sample).digest("base64"));
  });
  await fc.assert(property, { numRuns: 10 });
});

test("a text of megabytes is decoded wherever its letters are cut; bytes that are no text are not", async () => {
  for (const text of ["é😀x".repeat(400_000), `\ufeff${"x😀".repeat(400_000)}`]) {
    expect((await decodeAs(Buffer.from(text), "utf-8")) === text.replace("\ufeff", "")).toBe(true);
    expect(await decodeAs(Buffer.from(`${text}é`).subarray(0, -1), "utf-8")).toBeNull();
  }
  expect(await decodeAs(Buffer.from("x"), "no-charset")).toBeNull();
});

test("megabytes leave others their turns", async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await base64Form("A".repeat(40_000_000));
  clearImmediate(next);
  expect(turns).toBeGreaterThan(1);
});

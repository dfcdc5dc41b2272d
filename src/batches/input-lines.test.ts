import { expect, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { inputLines, LineTooLong } from "./input-lines.ts";

const BYTES_MAX = 10;

async function linesIn(...pieces: readonly (string | Buffer)[]) {
  const content = async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece);
  };
  const lines = await Array.fromAsync(inputLines(content(), BYTES_MAX));
  return lines.map(({ line, text }): [number, string] => [line, text]);
}

test("lines are found over the borders of pieces, also within a letter, and blank ones only count", async () => {
  verifies("batches.input.checked");
  const euro = Buffer.from("\u20ac\n");
  expect(await linesIn("\ufeffa", "b\r\n\n", euro.subarray(0, 1), euro.subarray(1), " \nend")).toEqual([
    [1, "ab\r"],
    [3, "\u20ac"],
    [5, "end"],
  ]);
  expect(await linesIn()).toEqual([]);
});

test("a line that is too long or no text ends the reading", async () => {
  verifies("batches.input.checked");
  expect(await linesIn("x".repeat(BYTES_MAX))).toHaveLength(1);
  const tooLong = linesIn("ok\n", "x".repeat(BYTES_MAX), "x");
  await expect(tooLong).rejects.toBeInstanceOf(LineTooLong);
  await expect(tooLong).rejects.toMatchObject({ line: 2 });
  await expect(linesIn(Buffer.from([0xff]))).rejects.toMatchObject({ code: "ERR_ENCODING_INVALID_ENCODED_DATA" });
});

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { passOnLines } from "./pass-on-lines.ts";

test("lines of several sources never mix, however they arrive", async () => {
  const written: string[] = [];
  const output = { write: (bytes: Uint8Array) => written.push(Buffer.from(bytes).toString()) };
  const sources = [new PassThrough(), new PassThrough()];
  const passedOn = Promise.all(sources.map((source) => passOnLines(source, output)));
  for (const piece of ["one", " and\nt", "wo\n", "three"]) {
    for (const source of sources) source.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const source of sources) source.end();
  await passedOn;
  expect(written.join("").split("\n").toSorted()).toEqual(
    ["one and", "one and", "two", "two", "three", "three", ""].toSorted(),
  );
});

import { expect, test } from "vitest";
import { ComplaintLog } from "./complaint-log.ts";

/** What is logged of these pieces of stderr, with `secret` redacted. */
function logged(...pieces: readonly string[]): readonly object[] {
  const lines: object[] = [];
  const secrets = { redact: (text: string) => text.replaceAll("secret", "[redacted]") };
  const log = new ComplaintLog((fields) => void lines.push(fields), secrets);
  for (const piece of pieces) log.add(Buffer.from(piece));
  log.end();
  return lines;
}

test("whole lines are logged without secrets, however they arrive", () => {
  expect(logged("a sec", "ret in two\r\n\n", "half")).toEqual([{ stderr: "a [redacted] in two" }, { stderr: "half" }]);
});

test("a long line is shortened, and one that could hide a cut secret is left out", () => {
  const [first, second] = logged(`${"x".repeat(2000)}\n`, "y".repeat(20_000), "secr\n", "end\n");
  expect(first).toEqual({ stderr: `${"x".repeat(1000)}…` });
  expect(second).toEqual({ stderr: "end", linesLeftOut: 1 });
});

test("of endless lines the first hundred of a minute are logged", () => {
  expect(logged("line\n".repeat(5000))).toHaveLength(100);
});

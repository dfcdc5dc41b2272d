import { expect, test } from "vitest";
import { KeptBody } from "./kept-body.ts";

test("a secret that the end of a kept body cuts is not shown in part, however often it comes before", () => {
  const secret = "s".repeat(20) + "e".repeat(20);
  const body = new KeptBody(8000);
  body.add(Buffer.from(secret.repeat(1000)));
  const { text, is_truncated: isTruncated } = body.redact([secret]);
  expect(isTruncated).toBe(true);
  expect(text.replaceAll("[redacted]", "")).toBe("");
});

import { expect, test } from "vitest";
import { retryAfterSeconds } from "./retry-after.ts";

const NOW_MS = Date.UTC(2026, 0, 1);

test.each([
  [{ "retry-after": "3" }, 3],
  [{ "retry-after": " 0.2 " }, 0.2],
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1.5],
  [{ "retry-after-ms": "soon", "retry-after": "9" }, 9],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT" }, 10],
  [{ "retry-after": "Wed, 31 Dec 2025 23:59:00 GMT" }, -60],
  [{ "retry-after": "soon" }, null],
  [{ "retry-after": "" }, null],
  [{}, null],
] as const)("%j asks for a wait of %s s", (headers, seconds) => {
  expect(retryAfterSeconds(headers, NOW_MS)).toBe(seconds);
});

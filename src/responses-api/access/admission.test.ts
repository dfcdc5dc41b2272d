import { expect, test } from "vitest";
import { rateLimitResetText } from "./admission.ts";

test("durations are written as the reference writes them", () => {
  const written = [0, 0.2, 20, 999, 1000, 1200, 59_999, 60_000, 90_000, 360_000].map(rateLimitResetText);
  expect(written).toEqual(["0s", "1ms", "20ms", "999ms", "1s", "1.2s", "59.999s", "1m0s", "1m30s", "6m0s"]);
});

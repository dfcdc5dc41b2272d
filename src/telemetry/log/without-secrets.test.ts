import { expect, test } from "vitest";
import { withoutSecrets } from "./without-secrets.ts";

test("secrets and content are hidden at any usual depth, and the given fields stay as they are", () => {
  const fields = {
    api_key: "a",
    call: { authorization: "b", to: { image_url: "c", n: 1 } },
    list: [{ file_data: "d" }],
  };
  expect(withoutSecrets(fields)).toEqual({
    api_key: "[Redacted]",
    call: { authorization: "[Redacted]", to: { image_url: "[Redacted]", n: 1 } },
    list: [{ file_data: "[Redacted]" }],
  });
  expect(fields.call.to.image_url).toBe("c");
});

test("fields without secrets are not copied, and errors are left to their own description", () => {
  const err = Object.assign(new Error("no"), { apiKey: "a" });
  const fields = { err, status: 200, places: [1, { two: 2 }] };
  expect(withoutSecrets(fields)).toBe(fields);
});

import { expect, test } from "vitest";
import { strictForm } from "../offered-tools/strict-form.ts";
import { strictSizeFault } from "./strict-limits.ts";

test("the schemas of too many properties are not looked at", () => {
  const reads = { count: 0 };
  const properties: Record<string, unknown> = {};
  for (let index = 0; index <= 5000; index += 1)
    Object.defineProperty(properties, `property_${index}`, {
      enumerable: true,
      get: () => {
        reads.count += 1;
        return { type: "string" };
      },
    });
  const schema = { type: "object", properties };
  expect(strictSizeFault(schema)).toContain("but received 5001");
  expect(strictForm(schema)).toBeNull();
  expect(reads.count).toBe(0);
});

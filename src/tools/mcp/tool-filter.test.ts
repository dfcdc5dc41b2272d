import { expect, test } from "vitest";
import { allowanceOf } from "./tool-filter.ts";

/** A list that counts how often its elements are read. */
function countedList(names: readonly string[]) {
  const reads = { count: 0 };
  const list = new Proxy([...names], {
    get(target, member) {
      if (typeof member === "string" && /^\d+$/.test(member)) reads.count += 1;
      return Reflect.get(target, member);
    },
  });
  return { list, reads };
}

test("a list of allowed tools is read once, however many tools are looked up in it", () => {
  const names = Array.from({ length: 1000 }, (_, index) => `allowed_${index}`);
  for (const filterOf of [(list: string[]) => list, (list: string[]) => ({ tool_names: list })]) {
    const { list, reads } = countedList(names);
    const isAllowed = allowanceOf(filterOf(list));
    const found = ["allowed_0", "allowed_999", "other"].map((name) => isAllowed({ name, readOnly: false }));
    for (let index = 0; index < 1000; index += 1) isAllowed({ name: `other_${index}`, readOnly: false });
    expect([found, reads.count]).toEqual([[true, true, false], 1000]);
  }
});

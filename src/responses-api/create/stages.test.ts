import { expect, test } from "vitest";
import { Stages } from "./stages.ts";

const WORK_MS = 5;

test("each stage adds to the draft of the one before, with the same ports", async () => {
  const stages = Stages.of<{ readonly name: string }, { readonly sign: string }>()
    .add((draft, { sign }) => ({ ...draft, greeting: `Hello ${draft.name}${sign}` }))
    .add(async (draft) => ({ ...draft, length: draft.greeting.length }));
  expect(await stages.run({ name: "Ada" }, { sign: "!" })).toEqual({
    name: "Ada",
    greeting: "Hello Ada!",
    length: 10,
  });
});

test("no stage runs after one that has thrown", async () => {
  const seen: string[] = [];
  const stages = Stages.of<null, null>()
    .add(() => Promise.reject(new Error("no")))
    .add(() => seen.push("second"));
  await expect(stages.run(null, null)).rejects.toThrow("no");
  expect(seen).toEqual([]);
});

test("the event loop runs between two stages of which the first takes long", async () => {
  const seen: string[] = [];
  const stages = Stages.of<null, null>()
    .add(() => {
      setImmediate(() => seen.push("others"));
      const endsAt = performance.now() + WORK_MS;
      while (performance.now() < endsAt);
      return null;
    })
    .add(() => seen.push("second"));
  await stages.run(null, null);
  expect(seen).toEqual(["others", "second"]);
});

test("a list that another was made of stays as it is", async () => {
  const one = Stages.of<number, null>().add((count) => count + 1);
  const two = one.add((count) => count * 10);
  expect(await Promise.all([one.run(1, null), two.run(1, null)])).toEqual([2, 20]);
});

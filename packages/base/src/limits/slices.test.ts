import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { eachInSlices, mapInSlices, Slices } from "./slices.ts";

/** Keeps the thread busy for this time. */
function compute(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await work;
  clearImmediate(next);
  return turns;
}

test("a long list is worked on in order, with turns of the event loop in between", async () => {
  const list = Array.from({ length: 100 }, (_, index) => index);
  const seen: number[] = [];
  const work = eachInSlices(list, (element) => {
    compute(0.5);
    seen.push(element);
  });
  expect(await turnsDuring(Promise.resolve(work))).toBeGreaterThan(3);
  expect(seen).toEqual(list);
});

test("a short list takes no turn, and what fails is told", async () => {
  expect(await turnsDuring(Promise.resolve(mapInSlices([1, 2], (element) => element * 2)))).toBe(0);
  expect(await mapInSlices([1, 2], (element, index) => element * 2 + index)).toEqual([2, 5]);
  await expect(async () => await mapInSlices([1], () => JSON.parse("{"))).rejects.toThrow(SyntaxError);
});

test("computations that follow each other in one turn share the time of one slice", async () => {
  const steps = async (): Promise<void> => {
    for (let pass = 0; pass < 6; pass += 1) {
      const slices = new Slices();
      compute(2);
      await slices.pause();
    }
  };
  expect(await turnsDuring(steps())).toBeGreaterThan(1);
});

test("after a slice in the callback of a file or socket, the loop looks at timers before the next slice", async () => {
  await readFile(import.meta.filename);
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 1);
  const slices = new Slices();
  for (let slice = 1; slice <= 3; slice += 1) {
    compute(3);
    await slices.pause();
    expect(ticks).toBeGreaterThanOrEqual(slice);
  }
  clearInterval(timer);
});

test("those that wait get their slice though new computations come with each turn", async () => {
  let comes = true;
  const come = async (): Promise<void> => {
    if (comes) readFile(import.meta.filename).then(come, come);
    const slices = new Slices();
    compute(3);
    await slices.pause();
  };
  await come();
  const slices = new Slices();
  for (let slice = 0; slice < 5; slice += 1) await slices.next();
  comes = false;
});

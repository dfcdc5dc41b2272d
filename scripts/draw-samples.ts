/**
 * Prints comments, error texts and log lines of `src/` and `packages/`, drawn at random, so that people can judge how
 * they read: `node scripts/draw-samples.ts SEED [COMMENTS] [ERROR_TEXTS] [LOG_LINES]`. The same seed draws the same
 * samples from the same files.
 */

import { globSync, readFileSync } from "node:fs";
import { findTexts, TEXT_KINDS } from "./find-texts.ts";

const DEFAULT_COUNTS = { comment: 30, error: 10, log: 10 };

const [seed, ...counts] = process.argv.slice(2).map(Number);
if (seed === undefined || [seed, ...counts].some((number) => !Number.isInteger(number) || number < 0)) {
  console.error("Usage: node scripts/draw-samples.ts SEED [COMMENTS] [ERROR_TEXTS] [LOG_LINES]");
  process.exit(2);
}

const paths = globSync("{src,packages/*/src}/**/*.ts").filter((path) => !/[.](test|fixture)[.]ts$/.test(path));
const texts = paths.toSorted().flatMap((path) => findTexts({ path, text: readFileSync(path, "utf8") }));
const random = randomNumbers(seed);
for (const [index, kind] of TEXT_KINDS.entries()) {
  const found = texts.filter((text) => text.kind === kind);
  const drawn = draw(found, counts[index] ?? DEFAULT_COUNTS[kind], random);
  console.log(`${kind}: ${drawn.length} of ${found.length}\n`);
  for (const { path, line, text } of drawn) console.log(`${path}:${line}\n${text}\n`);
}

/** As many of the items as asked for, without repetition. */
function draw<Item>(items: readonly Item[], count: number, next: () => number): Item[] {
  const keyed = items.map((item) => ({ item, key: next() })).toSorted((one, other) => one.key - other.key);
  return keyed.slice(0, count).map(({ item }) => item);
}

/** Numbers from 0 to 1, the same for the same seed: the linear congruential generator of Numerical Recipes. */
function randomNumbers(start: number): () => number {
  let state = start % 2 ** 32;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export type Trigger = "refuse" | "filter" | "fail";

const PHRASES: readonly (readonly [Trigger, RegExp])[] = [
  ["refuse", /\bplease refuse\b|\brefuse to answer\b/i],
  ["filter", /\btrigger the content filter\b/i],
  ["fail", /\bfail now\b/i],
];

/** Phrases by which a client's developer gets at endings that are hard to meet otherwise. */
export function findTrigger(text: string): Trigger | null {
  return PHRASES.find(([, phrase]) => phrase.test(text))?.[0] ?? null;
}

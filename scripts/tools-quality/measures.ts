/** The numbers of the texts that were found for a question, best first, and that of the right one. */
export interface Ranking {
  readonly found: readonly number[];
  readonly right: number;
}

const DEPTH = 10;

/** With one right answer, the gain at rank r, from 1, is 1 / log2(r + 1). */
export function ndcg(rankings: readonly Ranking[]): number {
  return mean(rankings.map(({ found, right }) => gainAt(found.slice(0, DEPTH).indexOf(right))));
}

export function recall(rankings: readonly Ranking[]): number {
  return mean(rankings.map(({ found, right }) => (found.slice(0, DEPTH).includes(right) ? 1 : 0)));
}

function gainAt(index: number): number {
  return index === -1 ? 0 : 1 / Math.log2(index + 2);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** For each question, the numbers of the found answers, best first. The right one has the question's own number. */
type Rankings = readonly (readonly number[])[];

const DEPTH = 10;

/** With one right answer, the gain at rank r, from 1, is 1 / log2(r + 1). */
export function ndcg(rankings: Rankings): number {
  return mean(rankings.map((ranking, question) => gainAt(ranking.slice(0, DEPTH).indexOf(question))));
}

export function recall(rankings: Rankings): number {
  return mean(rankings.map((ranking, question) => (ranking.slice(0, DEPTH).includes(question) ? 1 : 0)));
}

function gainAt(index: number): number {
  return index === -1 ? 0 : 1 / Math.log2(index + 2);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

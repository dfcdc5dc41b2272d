/** How many edits a key may be away from a known one to be offered instead. */
const DISTANCE_MAX = 2;

/**
 * ` Did you mean 'store' or 'stream'?`, or nothing: known keys within two edits, nearest first, those already sent
 * never.
 */
export function spellingHint(unknown: string, known: readonly string[], sent: ReadonlySet<string>): string {
  const near = known
    .filter((key) => !sent.has(key))
    .filter((key) => Math.abs(key.length - unknown.length) <= DISTANCE_MAX) // A name may be megabytes long.
    .map((key) => ({ key, distance: levenshtein(unknown, key) }))
    .filter(({ distance }) => distance <= DISTANCE_MAX)
    .toSorted((a, b) => a.distance - b.distance || (a.key < b.key ? -1 : 1))
    .slice(0, 2);
  return near.length === 0 ? "" : ` Did you mean ${near.map(({ key }) => `'${key}'`).join(" or ")}?`;
}

function levenshtein(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

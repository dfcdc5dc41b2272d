/**
 * What `map` makes of each value, in their order; begun for so many at a time. After the first that fails, no further
 * one is begun.
 */
export async function mapSomeAtOnce<T, R>(
  values: readonly T[],
  atOnceMax: number,
  map: (value: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Map<number, R>();
  const waiting = values.entries();
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (const [index, value] of waiting) {
      if (hasFailed) return;
      try {
        results.set(index, await map(value, index));
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, values.length) }, work));
  return [...results].toSorted(([one], [other]) => one - other).map(([, result]) => result);
}

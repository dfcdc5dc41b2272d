/**
 * Maps all values, at most `atOnceMax` at the same time, and returns the results in the order of the values. After the
 * first failure no further call starts.
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

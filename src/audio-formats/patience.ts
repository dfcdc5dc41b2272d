/**
 * The values as they come; aborts `impatience` when one that is wanted takes longer than `ms`. The time that a reader
 * takes does not count.
 */
export async function* withPatience<T>(
  values: AsyncIterable<T>,
  ms: number,
  impatience: AbortController,
): AsyncGenerator<T> {
  const iterator = values[Symbol.asyncIterator]();
  try {
    for (;;) {
      const timer = setTimeout(() => impatience.abort(), ms);
      const next = await iterator.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

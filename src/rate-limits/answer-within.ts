/** There was no reply in time. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/**
 * Settles with `work`, or rejects with `NoAnswer` after `ms` milliseconds. If this process itself was busy for that
 * long, the reply may have arrived, so a turn of the event loop reads it first.
 */
export async function answerWithin<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    setImmediate(() => setImmediate(() => reject(new NoAnswer(`no answer in ${ms} ms`))));
  }, ms);
  return await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

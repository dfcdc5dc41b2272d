/** Yields the messages, then waits until it is cancelled. */
export function pausingAfter<Message>(...messages: readonly Message[]) {
  const { promise: isCancelled, resolve } = Promise.withResolvers<void>();
  const left = [...messages];
  const iterator: AsyncIterator<Message> = {
    next: () => {
      const value = left.shift();
      return value === undefined ? new Promise(() => {}) : Promise.resolve({ value });
    },
    return: async () => {
      resolve();
      return { done: true, value: undefined };
    },
  };
  return { messages: { [Symbol.asyncIterator]: () => iterator }, isCancelled };
}

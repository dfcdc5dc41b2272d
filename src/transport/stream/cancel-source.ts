import type { Logger } from "../../base/logger.ts";

/**
 * Tells a source that nobody listens any more. Nobody waits for its last words; a fault among them is still known to
 * the log.
 */
export function cancelSource(source: AsyncIterator<unknown>, log: Logger, requestId: string): void {
  const returned = source.return?.() ?? Promise.resolve();
  returned.catch((error: unknown) => log.debug({ err: error, requestId }, "a source failed after its client had left"));
}

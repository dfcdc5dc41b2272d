const THREADS_MAX = 8;
const SHARE = 3 / 4;

/**
 * How many threads the engine uses. It waits for its slowest thread after every step, so a thread without its own core
 * slows down all of them. With more than two cores, some are left for other work.
 */
export function threadCount(cores: number): number {
  return cores <= 2 ? Math.max(1, cores) : Math.min(THREADS_MAX, Math.max(2, Math.floor(cores * SHARE)));
}

const THREADS_MAX = 8;
const SHARE = 3 / 4;

/**
 * How many threads the engine computes with. It waits for its slowest thread after every step, so a thread without a
 * core of its own makes all of them slow; where there are more than two cores, some are left to everything else.
 */
export function threadCount(cores: number): number {
  return cores <= 2 ? Math.max(1, cores) : Math.min(THREADS_MAX, Math.max(2, Math.floor(cores * SHARE)));
}

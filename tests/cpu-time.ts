/**
 * Milliseconds of processor time that some work takes in this process: whatever else a busy machine does is not in it.
 */
export async function cpuMsOf<Result>(work: () => Promise<Result> | Result): Promise<{ ms: number; result: Result }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, result };
}

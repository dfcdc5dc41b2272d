/** Processor time in milliseconds that this process spends on some work. Other processes do not count. */
export async function cpuMsOf<Result>(work: () => Promise<Result> | Result): Promise<{ ms: number; result: Result }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, result };
}

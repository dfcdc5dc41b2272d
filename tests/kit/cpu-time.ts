/** Processor time in milliseconds that this process spends on some work. Other processes do not count. */
export async function cpuMsOf<Result>(work: () => Promise<Result> | Result): Promise<{ ms: number; result: Result }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, result };
}

/** The least that a measurement gives when it is made so often: other work of the machine only adds to it. */
export async function leastOf(times: number, measure: () => Promise<number>): Promise<number> {
  const measured: number[] = [];
  while (measured.length < times) measured.push(await measure());
  return Math.min(...measured);
}

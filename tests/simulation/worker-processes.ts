import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** The seeds to run. */
export interface SeedRange {
  readonly from: number;
  readonly seeds: number;
  /** How many processes share them. */
  readonly jobs: number;
  /** Whether the steps of seeds without a fault are wanted, too. */
  readonly isTraced?: boolean;
  /** Flags for these processes. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A seed that found something. */
export interface SeedFault {
  readonly seed: number;
  readonly message: string;
  readonly trace: readonly string[];
  /** The same whenever the seed runs. */
  readonly hash: string;
}

/** What a process tells of one seed. */
export interface SeedReport {
  readonly seed: number;
  readonly steps: number;
  readonly simulatedMs: number;
  readonly hash: string;
  readonly message: string | null;
  /** Empty without a fault, unless it is wanted. */
  readonly trace: readonly string[];
}

export interface SeedSum {
  readonly seeds: number;
  readonly steps: number;
  readonly simulatedMs: number;
  readonly traces: readonly string[];
}

/** Runs seeds in processes of their own. `onFault` returns whether to go on. Rejects if a process breaks. */
export async function runSeeds(range: SeedRange, onFault: (fault: SeedFault) => boolean): Promise<SeedSum> {
  const sum = { seeds: 0, steps: 0, simulatedMs: 0, traces: [] as string[] };
  const stopAll = new AbortController();
  const take = ({ message, ...report }: SeedReport): void => {
    sum.seeds += 1;
    sum.steps += report.steps;
    sum.simulatedMs += report.simulatedMs;
    if (message === null) sum.traces.push(...report.trace);
    else if (!stopAll.signal.aborted && !onFault({ ...report, message })) stopAll.abort();
  };
  const jobs = Math.min(range.jobs, range.seeds);
  await Promise.all(Array.from({ length: jobs }, (_, job) => runPart(range, { job, jobs }, take, stopAll.signal)));
  return sum;
}

async function runPart(
  { from, seeds, isTraced = false, flags = [], env = {} }: SeedRange,
  { job, jobs }: { readonly job: number; readonly jobs: number },
  take: (report: SeedReport) => void,
  stop: AbortSignal,
): Promise<void> {
  const args = [from + job, from + seeds, jobs, isTraced ? "traced" : ""].map(String);
  const child = fork(join(import.meta.dirname, "run-part.ts"), args, {
    execArgv: [...flags],
    env: { ...process.env, ...env },
    serialization: "advanced",
  });
  child.on("message", (report: SeedReport) => take(report));
  const leave = (): void => void child.kill("SIGKILL");
  stop.addEventListener("abort", leave, { once: true });
  const [code] = await once(child, "exit");
  stop.removeEventListener("abort", leave);
  if (code !== 0 && !stop.aborted) throw new Error(`a process of the simulation ended with ${String(code)}`);
}

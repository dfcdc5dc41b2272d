import type { TcpProxy } from "../../tests/services/tcp-proxy.ts";
import { judgeRuns } from "./checks/ask-stored.ts";
import { type Outcome, outcomeOf } from "./figures/outcome.ts";
import { breakDatabase, drawOutages } from "./runs/break-database.ts";
import { followRun } from "./runs/follow-run.ts";
import { Run, RunNames } from "./runs/run.ts";
import { Trouble } from "./runs/trouble.ts";
import type { System } from "./systems/system.ts";
import type { World } from "./world/world.ts";

export interface OutageRace {
  readonly title: string;
  readonly system: System & { readonly proxy: TcpProxy };
  readonly world: World;
  readonly outages: number;
  /** Runs at a time. */
  readonly underWay: number;
}

/** Breaks the way to the database again and again, with so many runs under way all the time. */
export async function raceOutages({ title, system, world, outages, underWay }: OutageRace): Promise<Outcome> {
  const startedAt = Date.now();
  const names = new RunNames();
  const trouble = new Trouble();
  const runs = new Array<Run>();
  const lengths = drawOutages(outages);
  const total = lengths.reduce((sum, ms) => sum + ms, 0) / 1000;
  console.log(
    `${title}: ${outages} outages, ${total.toFixed(0)} s in all, the longest ${Math.max(...lengths) / 1000} s`,
  );
  let isOver = false;
  const keepRunning = async (): Promise<void> => {
    while (!isOver) {
      const run = new Run(names.next());
      runs.push(run);
      await followRun(run, { system, names, trouble, repeats: false });
    }
  };
  const report = (count: number): void => {
    const over = runs.filter((run) => run.isOver).length;
    const completed = runs.filter(({ shown }) => shown.end?.type === "response.completed").length;
    console.log(`${title}: ${count} of ${outages} outages; ${completed} of ${over} runs completed`);
  };
  const breaking = { proxy: system.proxy, trouble, runs: () => runs, report };
  await Promise.all([
    ...Array.from({ length: underWay }, keepRunning),
    breakDatabase(lengths, breaking).finally(() => (isOver = true)),
  ]);
  const verdicts = await judgeRuns(runs, system);
  const history = await world.history();
  return outcomeOf({ title, system, verdicts, faults: trouble.faults, history, startedAt });
}

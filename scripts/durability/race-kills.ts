import { judgeRuns } from "./checks/ask-stored.ts";
import type { Verdict } from "./checks/judge-run.ts";
import { isCompleted, type Outcome, outcomeOf } from "./figures/outcome.ts";
import { followRun } from "./runs/follow-run.ts";
import { killNodes } from "./runs/kill-nodes.ts";
import { Run, RunNames } from "./runs/run.ts";
import { Trouble } from "./runs/trouble.ts";
import type { System } from "./systems/system.ts";
import type { World } from "./world/world.ts";

export interface Race {
  readonly title: string;
  readonly system: System;
  readonly world: World;
  readonly runs: number;
  /** Runs that begin together. */
  readonly wave: number;
  /** Whether creates have keys, lose their replies, and are repeated. */
  readonly repeats?: boolean;
}

/** Kills nodes under waves of runs, and judges each wave after its end, when all nodes are up. */
export async function raceKills({ title, system, world, runs, wave, repeats = false }: Race): Promise<Outcome> {
  const startedAt = Date.now();
  const names = new RunNames();
  const trouble = new Trouble();
  const verdicts = new Array<Verdict>();
  for (let begun = 0; begun < runs; begun += wave) {
    const killed = trouble.faults.length;
    const group = Array.from({ length: Math.min(wave, runs - begun) }, () => new Run(names.next()));
    const read = group.map((run) => followRun(run, { system, names, trouble, repeats }));
    await Promise.all([...read, killNodes(group, system.nodes, trouble)]);
    const judged = await judgeRuns(group, system);
    verdicts.push(...judged);
    const completed = judged.filter(isCompleted).length;
    const kills = trouble.faults.length - killed;
    console.log(
      `${title}: ${begun + group.length} of ${runs} runs; ${kills} kills, ${completed} of ${group.length} completed`,
    );
  }
  const history = await world.history();
  return outcomeOf({ title, system, verdicts, faults: trouble.faults, history, startedAt });
}

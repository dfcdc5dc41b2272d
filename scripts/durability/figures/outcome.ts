import type { Check, Verdict } from "../checks/judge-run.ts";
import { findConcerned, measureTakeover, type Takeover } from "../checks/takeover.ts";
import type { ToldEnds } from "../checks/told-ends.ts";
import { countEffects, countTurns, type EffectCounts, type TurnCounts } from "../checks/world-counts.ts";
import type { Fault, FoundRun } from "../runs/trouble.ts";
import type { System } from "../systems/system.ts";
import type { History } from "../world/world.ts";

/** What came of one part of the trial. */
export interface Outcome {
  readonly title: string;
  readonly verdicts: readonly Verdict[];
  readonly faults: readonly Fault[];
  /** The runs that the faults concerned, once for each fault. */
  readonly concerned: readonly FoundRun[];
  readonly effects: EffectCounts;
  readonly turns: TurnCounts;
  /** After kills whose node was started again at once, and after outages. */
  readonly takeover: Takeover;
  /** After kills whose node stayed away. */
  readonly takeoverAway: Takeover;
  /** How nodes ended that nobody killed, and why they did not start. */
  readonly nodeFaults: readonly string[];
  readonly judging: System["judging"];
  readonly seconds: number;
  /** What a receiver of webhooks was told; null without one. */
  readonly toldEnds: ToldEnds | null;
}

export interface Trial {
  readonly title: string;
  readonly system: System;
  readonly verdicts: readonly Verdict[];
  readonly faults: readonly Fault[];
  readonly history: History;
  readonly startedAt: number;
}

export function outcomeOf({ title, system, verdicts, faults, history, startedAt }: Trial): Outcome {
  const completed = new Set(verdicts.filter(isCompleted).map(({ run }) => run));
  return {
    title,
    verdicts,
    faults,
    concerned: faults.flatMap((fault) => findConcerned(fault, history)),
    effects: countEffects(history.calls, verdicts),
    turns: countTurns(history.turns),
    takeover: measureTakeover({ faults, completed, history }, ({ isAway }) => !isAway),
    takeoverAway: measureTakeover({ faults, completed, history }, ({ isAway }) => isAway),
    nodeFaults: system.nodes.flatMap((node) => node.faults),
    judging: system.judging,
    seconds: (Date.now() - startedAt) / 1000,
    toldEnds: null,
  };
}

export function isCompleted({ status }: Verdict): boolean {
  return status === "completed";
}

/** The runs that a check found something about. */
export function runsWith(check: Check, { verdicts }: Outcome): number {
  return verdicts.filter(({ findings }) => findings.some((finding) => finding.check === check)).length;
}

/** Whether every run completed and no check found anything. */
export function isGood({ verdicts, effects, nodeFaults, toldEnds }: Outcome): boolean {
  return (
    verdicts.length > 0 &&
    verdicts.every((verdict) => isCompleted(verdict) && verdict.findings.length === 0) &&
    effects.twice.length === 0 &&
    effects.inventedDone.length === 0 &&
    nodeFaults.length === 0 &&
    (toldEnds === null || (toldEnds.missing.length === 0 && toldEnds.severalEvents.length === 0))
  );
}

import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { Run } from "../runs/run.ts";
import type { AskedTurn, ToolCall } from "../world/script.ts";
import type { Verdict } from "./judge-run.ts";

/** What the world saw of the effects of some runs, beside what their responses say. */
export interface EffectCounts {
  /** Steps of runs that acted at all. */
  readonly acted: number;
  /** Steps that acted more than once, as `run-1 step 2`. */
  readonly twice: readonly string[];
  /** Steps whose outcome is reported as unknown, and that acted. */
  readonly unknownActed: number;
  /** The same, and they never acted. */
  readonly unknownNever: number;
  /** Steps that a completed response reports as done, and that never acted. */
  readonly inventedDone: readonly string[];
}

/** Counts the effects of all runs, and of creates without an answer that may have begun a run. */
export function countEffects(calls: readonly ToolCall[], verdicts: readonly Verdict[]): EffectCounts {
  const acts = new Map<string, number>();
  for (const { run, step, actedAt } of calls)
    if (actedAt !== null) acts.set(`${run} step ${step}`, (acts.get(`${run} step ${step}`) ?? 0) + 1);
  const reported = verdicts.flatMap(({ run }) => reportedSteps(run).map((step) => ({ ...step, run: run.name })));
  const hasActed = ({ run, step }: { run: string; step: number }): boolean => acts.has(`${run} step ${step}`);
  const unknown = reported.filter(({ isUnknown }) => isUnknown);
  return {
    acted: acts.size,
    twice: [...acts].flatMap(([step, times]) => (times > 1 ? [`${step} acted ${times} times`] : [])),
    unknownActed: unknown.filter(hasActed).length,
    unknownNever: unknown.filter((step) => !hasActed(step)).length,
    inventedDone: reported
      .filter(({ isDone, ...step }) => isDone && !hasActed(step))
      .map(({ run, step }) => `${run} step ${step}`),
  };
}

interface ReportedStep {
  readonly step: number;
  readonly isDone: boolean;
  readonly isUnknown: boolean;
}

/** The calls in the response that ended a run. */
function reportedSteps({ shown }: Run): readonly ReportedStep[] {
  const event = jsonOrUndefined(shown.end?.json ?? "");
  const response = isRecord(event) ? event["response"] : null;
  const output = isRecord(response) && Array.isArray(response["output"]) ? response["output"] : [];
  return output.flatMap((item) => {
    if (!isRecord(item) || item["type"] !== "mcp_call") return [];
    const given = jsonOrUndefined(String(item["arguments"]));
    const step = isRecord(given) ? Number(given["step"]) : Number.NaN;
    const isUnknown = JSON.stringify(item["error"] ?? "").includes("unknown");
    return [{ step, isDone: item["status"] === "completed", isUnknown }];
  });
}

/** How often the model was asked, and asked for what it had said to the end. */
export interface TurnCounts {
  /** Turns of runs that were asked at all. */
  readonly turns: number;
  /** Questions for a turn that had ended already. */
  readonly again: number;
  /** Turns that were cut off and asked once more. */
  readonly cut: number;
}

export function countTurns(asked: readonly AskedTurn[]): TurnCounts {
  const byTurn = Map.groupBy(asked, ({ run, turn }) => `${run} ${turn}`);
  const counts = [...byTurn.values()].map((questions) => {
    const firstEnd = Math.min(...questions.map(({ endedAt }) => endedAt ?? Number.POSITIVE_INFINITY));
    const again = questions.filter(({ askedAt }) => askedAt > firstEnd).length;
    return { again, cut: questions.length - 1 - again };
  });
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    turns: byTurn.size,
    again: sum(counts.map(({ again }) => again)),
    cut: sum(counts.map(({ cut }) => cut)),
  };
}

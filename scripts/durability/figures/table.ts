import { quantile } from "../../bench/statistics.ts";
import type { Phase } from "../runs/shown-events.ts";
import { isCompleted, type Outcome, runsWith } from "./outcome.ts";

interface Row {
  readonly title: string;
  readonly cell: (outcome: Outcome) => string;
}

const ROWS: readonly Row[] = [
  { title: "runs completed", cell: ({ verdicts }) => of(verdicts.filter(isCompleted).length, verdicts.length) },
  { title: "the others", cell: othersOf },
  { title: "kills, or outages", cell: faultsOf },
  { title: "hit in a step, in the text, between", cell: foundOf },
  { title: "effects twice, of those that happened", cell: ({ effects }) => of(effects.twice.length, effects.acted) },
  { title: "reported unknown: never happened", cell: (outcome) => unknown(outcome, outcome.effects.unknownNever) },
  { title: "reported unknown: happened", cell: (outcome) => unknown(outcome, outcome.effects.unknownActed) },
  { title: "reported done: never happened", cell: ({ effects }) => `${effects.inventedDone.length}` },
  { title: "events shown twice", cell: (outcome) => `${sum(outcome, ({ repeated }) => repeated.length)}` },
  { title: "events missing", cell: (outcome) => `${sum(outcome, ({ missing }) => missing)}` },
  { title: "runs with either", cell: (outcome) => `${runsWith("each event once", outcome)}` },
  { title: "runs without exactly one end", cell: (outcome) => `${runsWith("one end", outcome)}` },
  { title: "replays that differ", cell: (outcome) => `${runsWith("replay", outcome)}` },
  { title: "snapshots unlike the events", cell: (outcome) => `${runsWith("snapshot", outcome)}` },
  { title: "streams against the grammar", cell: (outcome) => `${runsWith("grammar", outcome)}` },
  { title: "ended turns asked again", cell: ({ turns }) => of(turns.again, turns.turns) },
  { title: "cut turns asked again", cell: ({ turns }) => of(turns.cut, turns.turns) },
  { title: "to the next event: median / p90 / max", cell: ({ takeover }) => spread(takeover.toEvent) },
  { title: "to the next work: median / p90 / max", cell: ({ takeover }) => spread(takeover.toWork) },
  { title: "while the node is away: to the next event", cell: ({ takeoverAway }) => spread(takeoverAway.toEvent) },
  { title: "while the node is away: to the next work", cell: ({ takeoverAway }) => spread(takeoverAway.toWork) },
  {
    title: "creates sent again",
    cell: ({ verdicts }) => `${verdicts.reduce((total, { run }) => total + run.formerNames.length + run.repeats, 0)}`,
  },
  { title: "ends that webhooks told, of runs that ended", cell: ({ toldEnds }) => toldText(toldEnds) },
  { title: "nodes that ended or did not start", cell: ({ nodeFaults }) => `${nodeFaults.length}` },
  { title: "duration", cell: ({ seconds }) => `${seconds.toFixed(0)} s` },
];

const NONE = "–";

/** A column for each outcome, so that they stand beside one another. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const columns = [["", ...ROWS.map(({ title }) => title)], ...outcomes.map(columnOf)];
  const widths = columns.map((cells) => Math.max(...cells.map(({ length }) => length)));
  const lineOf = (row: number): string =>
    columns
      .map((cells, column) =>
        column === 0 ? (cells[row] ?? "").padEnd(widths[0] ?? 0) : (cells[row] ?? "").padStart(widths[column] ?? 0),
      )
      .join("  ");
  return ["", ...ROWS].map((_, row) => lineOf(row)).join("\n");
}

function columnOf(outcome: Outcome): readonly string[] {
  return [outcome.title, ...ROWS.map(({ cell }) => cell(outcome))];
}

function of(count: number, total: number): string {
  return `${count} of ${total}`;
}

function toldText(told: Outcome["toldEnds"]): string {
  if (told === null) return NONE;
  const { accepted, missing, severalEvents, repeated } = told;
  const twice = severalEvents.length === 0 ? "" : `, ${severalEvents.length} as several events`;
  return `${of(accepted, accepted + missing.length)}, ${repeated} repeated${twice}`;
}

function othersOf({ verdicts }: Outcome): string {
  const others = verdicts.filter((verdict) => !isCompleted(verdict));
  const byStatus = Object.entries(Object.groupBy(others, ({ status }) => status));
  return byStatus.map(([status, all]) => `${all?.length} ${status}`).join(", ") || NONE;
}

function faultsOf({ faults }: Outcome): string {
  const ms = faults.reduce((total, { kind, at, beganAt }) => total + (kind === "outage" ? at - beganAt : 0), 0);
  return ms === 0 ? `${faults.length}` : `${faults.length}, ${(ms / 1000).toFixed(0)} s in all`;
}

function foundOf({ concerned }: Outcome): string {
  const count = (phase: Phase): number => concerned.filter((found) => found.phase === phase).length;
  return `${count("step")}, ${count("text")}, ${count("between")}`;
}

function unknown({ judging }: Outcome, count: number): string {
  return judging.reportsUnknownEffects ? `${count}` : NONE;
}

function sum({ verdicts }: Outcome, value: (shown: Outcome["verdicts"][number]["run"]["shown"]) => number): number {
  return verdicts.reduce((total, { run }) => total + value(run.shown), 0);
}

function spread(ms: readonly number[]): string {
  if (ms.length === 0) return NONE;
  return `${[0.5, 0.9, 1].map((share) => (quantile(ms, share) / 1000).toFixed(1)).join(" / ")} s`;
}

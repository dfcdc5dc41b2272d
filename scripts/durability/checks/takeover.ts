import type { Run } from "../runs/run.ts";
import type { Fault, FoundRun } from "../runs/trouble.ts";
import type { History } from "../world/world.ts";

/** Milliseconds from a kill, or from the end of an outage, one for each run that it found under way. */
export interface Takeover {
  /** To the first new event that its reader sees. */
  readonly toEvent: readonly number[];
  /** To the first work for it: the model is asked, or the tool called. */
  readonly toWork: readonly number[];
}

/**
 * What was sent before a kill may arrive so much later: events over a connection that was open, and questions. Nobody
 * takes a run over in this time.
 */
const IN_FLIGHT_MS = 100;

export interface Observed {
  /** In order. */
  readonly faults: readonly Fault[];
  readonly completed: ReadonlySet<Run>;
  readonly history: History;
}

/**
 * Measures it for the faults that `isMeant` chooses. Runs that did not complete are left out, and those that another
 * fault found before they went on.
 */
export function measureTakeover(
  { faults, completed, history }: Observed,
  isMeant: (fault: Fault) => boolean,
): Takeover {
  const work = workTimes(history);
  const samples = faults.flatMap((fault, index) => {
    if (!isMeant(fault)) return [];
    const until = faults[index + 1]?.beganAt ?? Number.POSITIVE_INFINITY;
    return findConcerned(fault, history)
      .filter(({ run }) => completed.has(run))
      .map((found) => ({
        toEvent: before(until, firstEvent(fault, found)) - fault.at,
        toWork: before(until, firstAfter(fault.at + IN_FLIGHT_MS, work.get(found.run.name) ?? [])) - fault.at,
      }));
  });
  return {
    toEvent: samples.map(({ toEvent }) => toEvent).filter(Number.isFinite),
    toWork: samples.map(({ toWork }) => toWork).filter(Number.isFinite),
  };
}

/** An outage concerns all runs that it found, and a kill those for which the killed node had asked the model last. */
export function findConcerned({ kind, node, beganAt, found }: Fault, { turns }: History): readonly FoundRun[] {
  if (kind === "outage") return found;
  const asked = Map.groupBy(
    turns.filter(({ askedAt }) => askedAt <= beganAt),
    ({ run }) => run,
  );
  return found.filter(({ run }) => asked.get(run.name)?.at(-1)?.node === node);
}

function firstEvent({ at }: Fault, { run, shownTo }: FoundRun): number {
  const event = run.shown.events.find(
    ({ number, at: shownAt, connectedAt }) =>
      number > shownTo && (connectedAt > at || shownAt > at + IN_FLIGHT_MS) && shownAt > at,
  );
  return event?.at ?? Number.POSITIVE_INFINITY;
}

function workTimes({ turns, calls }: History): ReadonlyMap<string, readonly number[]> {
  const all = [
    ...turns.map(({ run, askedAt }) => ({ run, at: askedAt })),
    ...calls.map(({ run, calledAt }) => ({ run, at: calledAt })),
  ];
  return new Map(
    [...Map.groupBy(all, ({ run }) => run)].map(([run, times]) => [
      run,
      times.map(({ at }) => at).toSorted((a, b) => a - b),
    ]),
  );
}

function firstAfter(start: number, times: readonly number[]): number {
  return times.find((time) => time > start) ?? Number.POSITIVE_INFINITY;
}

/** A time from `until` on counts as never. */
function before(until: number, time: number): number {
  return time < until ? time : Number.POSITIVE_INFINITY;
}

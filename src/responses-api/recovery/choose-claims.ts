import type { UnmadeRun, UnmadeRuns } from "../../runs/ports/run-ledger.ts";

export interface ClaimLimits {
  /** The number of further background runs for which this worker has room. */
  readonly places: number;
  /** The latest version of tasks that this worker can read. */
  readonly taskVersion: number;
  /** Whether a run with an unreadable task has waited long enough for a worker that can read it. */
  readonly isGivenUp: (responseId: string) => boolean;
}

/**
 * The runs that this worker takes. Runs that only need to be ended need no place. Of the others, it takes its fair
 * share, as far as it has room. A task of a newer release is left to a worker that can read it.
 */
export function chooseClaims(
  { runs, workers }: UnmadeRuns,
  { places, taskVersion, isGivenUp }: ClaimLimits,
): readonly UnmadeRun[] {
  const isReadable = ({ taskVersion: version }: UnmadeRun): boolean => version === null || version <= taskVersion;
  const ending = runs.filter((run) => !run.needsPlace || (!isReadable(run) && isGivenUp(run.responseId)));
  const candidates = runs.filter((run) => run.needsPlace && isReadable(run));
  const fairPart = Math.ceil(candidates.length / Math.max(1, workers));
  return [...ending, ...candidates.slice(0, Math.min(places, fairPart))];
}

/** The runs whose tasks no living worker can read. */
export function unreadableRuns({ runs, taskVersion: latest }: UnmadeRuns): readonly string[] {
  return runs.flatMap(({ needsPlace, taskVersion, responseId }) =>
    needsPlace && (taskVersion ?? 0) > latest ? [responseId] : [],
  );
}

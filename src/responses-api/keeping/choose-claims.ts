import type { UnmadeRun, UnmadeRuns } from "../../runs/ports/run-ledger.ts";

export interface ClaimLimits {
  /** How many more background runs this worker has room for. */
  readonly places: number;
  /** The latest version of tasks that this worker can read. */
  readonly taskVersion: number;
  /** Whether a run whose task no living worker can read has waited for one long enough. */
  readonly isGivenUp: (responseId: string) => boolean;
}

/**
 * The runs that this worker takes. Those that only have to be ended need no place. Of the others it takes its fair
 * part, as far as it has room, and leaves the rest to other workers. A task of a newer release is left to a worker that
 * can read it.
 */
export function chooseClaims(
  { runs, workers }: UnmadeRuns,
  { places, taskVersion, isGivenUp }: ClaimLimits,
): readonly UnmadeRun[] {
  const isReadable = ({ taskVersion: version }: UnmadeRun): boolean => version === null || version <= taskVersion;
  const ending = runs.filter((run) => !run.needsPlace || (!isReadable(run) && isGivenUp(run.responseId)));
  const wanted = runs.filter((run) => run.needsPlace && isReadable(run));
  const fairPart = Math.ceil(wanted.length / Math.max(1, workers));
  return [...ending, ...wanted.slice(0, Math.min(places, fairPart))];
}

/** The runs whose tasks no living worker can read. */
export function unreadableRuns({ runs, taskVersion: latest }: UnmadeRuns): readonly string[] {
  return runs.flatMap(({ needsPlace, taskVersion, responseId }) =>
    needsPlace && (taskVersion ?? 0) > latest ? [responseId] : [],
  );
}

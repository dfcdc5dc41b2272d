import type { Arrival } from "../world/webhook-receiver.ts";
import type { Verdict } from "./judge-run.ts";

/** What a receiver of webhooks was told about the ends of some runs. */
export interface ToldEnds {
  /** Runs whose end it accepted. */
  readonly accepted: number;
  /** Events that came again after they had failed. */
  readonly repeated: number;
  /** Runs that ended, and whose end it never accepted. */
  readonly missing: readonly string[];
  /** Runs whose end came as several events, so that it could not be recognised. */
  readonly severalEvents: readonly string[];
}

export function judgeToldEnds(arrivals: readonly Arrival[], verdicts: readonly Verdict[]): ToldEnds {
  const ended = verdicts.flatMap(({ run }) => (run.id === null || run.shown.end === null ? [] : [run.id]));
  const ofRun = Map.groupBy(arrivals, ({ responseId }) => responseId);
  const isAccepted = (id: string): boolean => ofRun.get(id)?.some((arrival) => arrival.isAccepted) ?? false;
  const events = new Set(arrivals.map(({ eventId }) => eventId));
  return {
    accepted: ended.filter(isAccepted).length,
    repeated: arrivals.length - events.size,
    missing: ended.filter((id) => !isAccepted(id)),
    severalEvents: [...ofRun].flatMap(([id, ofOne]) =>
      new Set(ofOne.map(({ eventId }) => eventId)).size > 1 ? [id] : [],
    ),
  };
}

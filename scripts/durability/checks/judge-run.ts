import { isDeepStrictEqual } from "node:util";
import { jsonOrText, readOwnJson } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ResponseStreamEvent } from "@antiphon/contracts/responses-api/types.ts";
import { lintText } from "@antiphon/stream-grammar/index.ts";
import { ResponseFold } from "../../../src/runs/index.ts";
import type { Run } from "../runs/run.ts";
import type { ShownEvents } from "../runs/shown-events.ts";
import type { Judging } from "../systems/system.ts";

/** What a server stored, or why it cannot be read. */
export type Stored<Value> =
  | { readonly type: "read"; readonly value: Value }
  | { readonly type: "unreadable"; readonly why: string };

/** What a server says of a run after its end. */
export interface StoredRun {
  /** The JSON of all its events. */
  readonly replay: Stored<readonly string[]>;
  readonly snapshot: Stored<unknown>;
}

export type Check = "one end" | "each event once" | "replay" | "snapshot" | "grammar";

export interface Finding {
  readonly check: Check;
  readonly says: string;
}

export interface Verdict {
  readonly run: Run;
  /** `completed` if both the reader and the server say so. */
  readonly status: string;
  readonly findings: readonly Finding[];
}

/** Checks what a reader was shown of a run. `stored` is null for a run that has no id. */
export function judgeRun(run: Run, stored: StoredRun | null, judging: Judging): Verdict {
  const { shown } = run;
  const status = stored === null ? "never created" : statusIn(stored.snapshot);
  if (shown.end === null || stored === null)
    return { run, status: `${status}, no end shown`, findings: [...findNumberFaults(shown), NO_END] };
  const shownStatus = shown.end.type.slice("response.".length);
  return {
    run,
    status: shownStatus === status ? status : `${shownStatus}, later ${status}`,
    findings: [
      ...findNumberFaults(shown),
      ...findEndFaults(shown),
      ...findReplayFaults(shown, stored.replay, judging),
      ...findSnapshotFaults(shown, stored.snapshot, judging),
      ...findGrammarFaults(shown, judging),
    ],
  };
}

function statusIn(snapshot: Stored<unknown>): string {
  if (snapshot.type === "unreadable") return "unreadable";
  return isRecord(snapshot.value) ? String(snapshot.value["status"]) : "no object";
}

const NO_END: Finding = { check: "one end", says: "no event ended it for its reader" };

function foundIf(isFound: boolean, finding: Finding): readonly Finding[] {
  return isFound ? [finding] : [];
}

function findNumberFaults({ events, repeated, missing }: ShownEvents): readonly Finding[] {
  const gap = events.findIndex(({ number }, index) => number !== (events[index - 1]?.number ?? -1) + 1);
  return [
    ...repeated.map((json): Finding => ({ check: "each event once", says: `a number was shown again by ${json}` })),
    ...foundIf(missing > 0, {
      check: "each event once",
      says: `${missing} numbers are missing, the first before ${events[gap]?.number}`,
    }),
  ];
}

function findEndFaults({ late }: ShownEvents): readonly Finding[] {
  return late.map((json) => ({ check: "one end", says: `after the end came ${json}` }));
}

function findReplayFaults(
  { events }: ShownEvents,
  stored: Stored<readonly string[]>,
  judging: Judging,
): readonly Finding[] {
  if (stored.type === "unreadable") return [{ check: "replay", says: `it cannot be read: ${stored.why}` }];
  const replay = stored.value;
  const isSame = (shown: string, repeated: string): boolean =>
    shown === repeated || (!judging.isExact && isDeepStrictEqual(jsonOrText(shown), jsonOrText(repeated)));
  const place = events.findIndex(({ json }, index) => !isSame(json, replay[index] ?? ""));
  if (place === -1 && replay.length === events.length) return [];
  const says =
    place === -1
      ? `the reader was shown ${events.length} events, and the replay has ${replay.length}`
      : `the reader was shown ${events[place]?.json}, and the replay has ${replay[place] ?? "nothing"}`;
  return [{ check: "replay", says }];
}

function findSnapshotFaults(
  { events }: ShownEvents,
  stored: Stored<unknown>,
  { isExact }: Judging,
): readonly Finding[] {
  if (stored.type === "unreadable") return [{ check: "snapshot", says: `it cannot be read: ${stored.why}` }];
  try {
    const fold = new ResponseFold();
    for (const { json } of events) fold.apply(readOwnJson<ResponseStreamEvent>(json));
    const { billing: _billing, ...shown } = isRecord(stored.value) ? stored.value : {}; // No event has this member.
    const folded: Readonly<Record<string, unknown>> = { ...fold.response };
    const compared = (value: unknown): unknown => (isExact ? value : (value ?? null));
    const differing = Object.keys({ ...folded, ...shown }).filter(
      (name) => !isDeepStrictEqual(compared(folded[name]), compared(shown[name])),
    );
    if (differing.length === 0) return [];
    return [{ check: "snapshot", says: `it differs from the fold of the events in ${differing.join(", ")}` }];
  } catch (error) {
    return [{ check: "snapshot", says: `the events cannot be folded: ${String(error)}` }];
  }
}

function findGrammarFaults({ events }: ShownEvents, { brokenRules }: Judging): readonly Finding[] {
  const reports = lintText(events.map(({ json }) => json).join("\n"));
  return reports
    .flatMap(({ faults }) => faults)
    .filter(({ rule }) => !brokenRules.has(rule))
    .map(({ rule, event, says }) => ({ check: "grammar", says: `${rule}: event ${event}: ${says}` }));
}

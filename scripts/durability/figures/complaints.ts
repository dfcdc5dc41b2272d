import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { Finding, Verdict } from "../checks/judge-run.ts";
import { isCompleted, type Outcome } from "./outcome.ts";

/** Printed of each kind. */
const LINES_MAX = 5;
const CHARACTERS_MAX = 500;
const LAST_EVENTS = 4;

/** What did not hold, in lines that name the runs. */
export function complaintsOf({ verdicts, effects, nodeFaults, toldEnds }: Outcome): readonly string[] {
  const unended = verdicts.filter((verdict) => !isCompleted(verdict)).map(endOf);
  const findings = Map.groupBy(
    verdicts.flatMap(({ run, findings: found }) => firstOfEach(found).map((finding) => ({ ...finding, run }))),
    ({ check }) => check,
  );
  return [
    ...first(unended),
    ...first(effects.twice),
    ...first(effects.inventedDone.map((step) => `${step} is reported as done, and never happened`)),
    ...[...findings].flatMap(([check, found]) =>
      first(found.map(({ run, says }) => `${run.name} ${run.id}: ${check}: ${says}`)),
    ),
    ...first((toldEnds?.missing ?? []).map((id) => `${id} ended, and the receiver was never told`)),
    ...first((toldEnds?.severalEvents ?? []).map((id) => `the end of ${id} came as several events`)),
    ...first(nodeFaults),
  ];
}

/** The first finding of each check. */
function firstOfEach(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ check }, index) => findings.findIndex((other) => other.check === check) === index);
}

function endOf({ run, status }: Verdict): string {
  const last = run.shown.events.slice(-LAST_EVENTS).map(({ number, type }) => `${number} ${type}`);
  const { whyGivenUp, latestBreak } = run;
  const why = whyGivenUp === null ? errorIn(run.shown.end?.json ?? "") : `${whyGivenUp}; latest break: ${latestBreak}`;
  return `${run.name} ${run.id}: ${status}: ${why}; last events: ${last.join(", ")}`;
}

function errorIn(json: string): string {
  const event = jsonOrUndefined(json);
  const response = isRecord(event) ? event["response"] : null;
  return JSON.stringify(isRecord(response) ? (response["error"] ?? response["incomplete_details"]) : null);
}

function first(lines: readonly string[]): readonly string[] {
  const left = lines.length - LINES_MAX;
  return [
    ...lines.slice(0, LINES_MAX).map((line) => line.slice(0, CHARACTERS_MAX)),
    ...(left > 0 ? [`… and ${left} more like these`] : []),
  ];
}

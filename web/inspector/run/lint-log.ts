import { lintText, type StreamReport } from "@antiphon/stream-grammar/index.ts";
import type { RunLog } from "./run-log.ts";

/** The events of a run, one JSON object a line, as `antiphon lint-stream` reads them. */
export function linterInput({ events }: RunLog): string {
  return events.map(({ event }) => `${JSON.stringify(event)}\n`).join("");
}

/** The linter's verdict on the events; null if there are none. */
export function lintLog(log: RunLog): StreamReport | null {
  return log.events.length === 0 ? null : (lintText(linterInput(log))[0] ?? null);
}

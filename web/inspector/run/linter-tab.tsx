import { NOTES, RULES, type StreamReport } from "@antiphon/stream-grammar/index.ts";
import { formatCount } from "../base/format.ts";
import { Icon } from "../shell/icons.tsx";
import type { RunLog } from "./run-log.ts";

/** What `antiphon lint-stream` would say of the events of this run. */
export function LinterTab({ report, log }: { readonly report: StreamReport | null; readonly log: RunLog }) {
  if (report === null)
    return (
      <p className="empty">
        {log.isAttached ? "The verdict comes when the run has ended." : "The server has no events of this run."}
      </p>
    );
  const faults = report.faults.length + report.faultsLeftOut;
  return (
    <section aria-label="Verdict of the linter">
      <p className="verdict" data-verdict={faults === 0 ? "good" : "bad"}>
        <Icon name={faults === 0 ? "check" : "warning"} size={20} />
        {faults === 0
          ? `${formatCount(report.events)} events, no rule broken`
          : `${formatCount(report.events)} events, rules broken ${faults} times`}
      </p>
      <p className="hint">
        {Object.keys(RULES).length} rules on the order, numbers, members and contents of events, as{" "}
        <code>antiphon lint-stream</code> checks them.
      </p>
      <ol className="findings">
        {report.faults.map(({ rule, event, type, says }, index) => (
          <li key={index}>
            <strong>{rule}</strong>{" "}
            <span className="hint">
              event {event} {type}
            </span>
            <p>{says}</p>
            <p className="hint">{RULES[rule]}</p>
          </li>
        ))}
        {report.notes.map(({ note, event, type, says }, index) => (
          <li key={`note-${index}`}>
            <strong>Note: {note}</strong>{" "}
            <span className="hint">
              event {event} {type}
            </span>
            <p>{says}</p>
            <p className="hint">{NOTES[note]}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

import { formatMs } from "../base/format.ts";
import type { LoggedEvent } from "./run-log.ts";
import { type Lane, lanesOf } from "./run-times.ts";

interface LanesProps {
  readonly events: readonly LoggedEvent[];
  readonly position: number;
  readonly onSeek: (index: number) => void;
}

/** Marks of events that are drawn in one lane; of more, every n-th is drawn. */
const MARKS_MAX = 240;
const TICKS = 5;

/** The course of a run: a lane for each wait and item, with a mark for each event. A click moves to that time. */
export function Lanes({ events, position, onSeek }: LanesProps) {
  const lanes = lanesOf(events);
  const totalMs = Math.max(1, events.at(-1)?.atMs ?? 1);
  const nowMs = events[position]?.atMs ?? 0;
  if (lanes.length === 0) return <p className="hint">The server does not know when the events of this run happened.</p>;
  return (
    <div className="lanes">
      <div className="lanes-axis" aria-hidden="true">
        {Array.from({ length: TICKS }, (_, tick) => (
          <span key={tick} style={{ left: `${(tick / (TICKS - 1)) * 100}%` }}>
            {formatMs((tick / (TICKS - 1)) * totalMs)}
          </span>
        ))}
      </div>
      <ol className="lanes-list" aria-label="Course of the run">
        {lanes.map((lane) => (
          <LaneRow key={lane.key} lane={lane} events={events} totalMs={totalMs} onSeek={onSeek} />
        ))}
      </ol>
      <div className="lanes-plot" aria-hidden="true">
        <div className="lanes-now" style={{ left: `${(nowMs / totalMs) * 100}%` }} />
      </div>
    </div>
  );
}

interface LaneRowProps {
  readonly lane: Lane;
  readonly events: readonly LoggedEvent[];
  readonly totalMs: number;
  readonly onSeek: (index: number) => void;
}

function LaneRow({ lane, events, totalMs, onSeek }: LaneRowProps) {
  const share = (ms: number): number => (ms / totalMs) * 100;
  const durationMs = lane.stretches.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  const [first] = lane.stretches;
  return (
    <li>
      <button type="button" className="lane" onClick={() => onSeek(lane.to)}>
        <span className="lane-label">
          {lane.label}
          <span className="unseen">from {formatMs(first?.fromMs ?? 0)}, took </span>
        </span>
        <span className="lane-track">
          {lane.stretches.map(({ fromMs, toMs }) => (
            <span
              key={fromMs}
              className="lane-bar"
              data-kind={lane.kind}
              style={{ left: `${share(fromMs)}%`, width: `max(3px, ${share(toMs - fromMs)}%)` }}
            />
          ))}
          {lane.kind === "queue" || lane.kind === "wait" ? null : <Marks lane={lane} events={events} share={share} />}
        </span>
        <span className="lane-time">{formatMs(durationMs)}</span>
      </button>
    </li>
  );
}

interface MarksProps {
  readonly lane: Lane;
  readonly events: readonly LoggedEvent[];
  readonly share: (ms: number) => number;
}

/** A line for each event, so that bursts and gaps can be seen. */
function Marks({ lane: { from, to }, events, share }: MarksProps) {
  const step = Math.max(1, Math.ceil((to - from) / MARKS_MAX));
  const indices = Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step);
  return (
    <svg className="lane-marks" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      {indices.map((index) => {
        const x = share(events[index]?.atMs ?? 0);
        return <line key={index} x1={x} x2={x} y1="2" y2="8" vectorEffect="non-scaling-stroke" />;
      })}
    </svg>
  );
}

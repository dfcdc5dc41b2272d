import type { Logger } from "@antiphon/base/logger.ts";
import type { ToolCallEnd, ToolObserver, ToolWatch, WatchedToolCall } from "@antiphon/domain/tool-watch.ts";
import type { Meters } from "./meters.ts";
import { METRICS } from "./metric-table.ts";
import type { ToolSpan, Tracing } from "./tracing.ts";

const LIMITS = ["max_tool_calls", "calls", "turns", "output_tokens", "repeated"] as const;

const EFFECTS = ["done", "failed", "asked", "unknown", "repeated"] as const;

/** Turns tool calls into metrics, log lines and spans, without arguments, results and names. */
export function observeTools(meters: Meters, tracing: Tracing | null, log: Logger): ToolObserver {
  const calls = meters.counter(METRICS.toolCalls);
  const duration = meters.histogram(METRICS.toolDuration);
  const turns = meters.histogram(METRICS.toolTurns);
  const limits = meters.counter(
    METRICS.toolLimits,
    LIMITS.map((limit) => ({ limit })),
  );
  const effects = meters.counter(
    METRICS.effects,
    EFFECTS.map((state) => ({ state })),
  );
  const omissions = meters.counter(METRICS.toolsOmitted);
  const countEnd = ({ kind, responseId }: WatchedToolCall, outcome: ToolCallEnd, ms: number): void => {
    calls.add(1, { tool: kind, outcome });
    duration.record(ms / 1000, { tool: kind });
    log.info({ responseId, tool: kind, ms: Math.round(ms), outcome }, "tool call ended");
  };
  return {
    began: (call) => watchCall(call, tracing?.beginTool(call) ?? null, countEnd),
    noteLoopEnd: (count) => turns.record(count),
    noteLimit: (limit) => limits.add(1, { limit }),
    noteEffect: (state) => effects.add(1, { state }),
    noteOmission: (kind) => omissions.add(1, { tool: kind }),
  };
}

function watchCall(
  call: WatchedToolCall,
  span: ToolSpan | null,
  tell: (call: WatchedToolCall, outcome: ToolCallEnd, ms: number) => void,
): ToolWatch {
  const begunAt = performance.now();
  return {
    noteEnd: (outcome) => {
      tell(call, outcome, performance.now() - begunAt);
      span?.end(outcome);
    },
  };
}

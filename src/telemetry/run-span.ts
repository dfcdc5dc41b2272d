import type { WatchedToolCall } from "@antiphon/domain/tool-watch.ts";
import { type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { WatchedRun } from "../runs/ports/run-watch.ts";
import { contextIn, contextOf, traceOf } from "./span-context.ts";
import type { RunSpan, ToolSpan } from "./tracing.ts";

/** Ends of a call that mark its span as an error. */
const ERRORS: ReadonlySet<string> = new Set(["failed", "unknown", "broken"]);

/** The span of one run. A background run also has a span for its wait in the queue. */
export function beginRunSpan(tracer: Tracer, run: WatchedRun): RunSpan {
  const span = tracer.startSpan(
    "run",
    {
      kind: SpanKind.INTERNAL,
      attributes: {
        "antiphon.response.id": run.responseId,
        "antiphon.background": run.isBackground,
        "antiphon.face": run.face ?? "responses",
      },
    },
    contextOf(run.trace),
  );
  let wait: Span | null = run.isBackground ? tracer.startSpan("queue", {}, contextIn(span)) : null;
  const endWait = (): void => {
    wait?.end();
    wait = null;
  };
  return {
    trace: traceOf(span),
    began: endWait,
    noteFailure: (reason) => span.setAttribute("error.type", reason).setStatus({ code: SpanStatusCode.ERROR }),
    end: (response) => {
      endWait();
      if (response?.status != null) span.setAttribute("antiphon.response.status", response.status);
      if (response?.error != null) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** The span of one tool call, under its run's span. Without arguments and results. */
export function beginToolSpan(tracer: Tracer, { kind, trace }: WatchedToolCall): ToolSpan {
  const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": kind };
  const span = tracer.startSpan(`execute_tool ${kind}`, { kind: SpanKind.INTERNAL, attributes }, contextOf(trace));
  return {
    end: (outcome) => {
      span.setAttribute("antiphon.tool.outcome", outcome);
      if (ERRORS.has(outcome)) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

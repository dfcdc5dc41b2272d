import { SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { WatchedToolCall } from "../responses-api/ports.ts";
import { contextOf } from "./span-context.ts";
import type { ToolSpan } from "./tracing.ts";

/** The span of one call of a tool, under that of its run. Holds no arguments and no results. */
export function beginToolSpan(tracer: Tracer, { kind, trace }: WatchedToolCall): ToolSpan {
  const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": kind };
  const span = tracer.startSpan(`execute_tool ${kind}`, { kind: SpanKind.INTERNAL, attributes }, contextOf(trace));
  return {
    end: (outcome) => {
      span.setAttribute("antiphon.tool.outcome", outcome);
      if (outcome === "failed" || outcome === "broken") span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

import { type TraceContext, traceHeaders } from "@antiphon/base/trace-context.ts";
import { type Context, ROOT_CONTEXT, type Span, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";

const PROPAGATOR = new W3CTraceContextPropagator();

/** A context that continues a trace; null starts a new trace. */
export function contextOf(cause: TraceContext | null | undefined): Context {
  return PROPAGATOR.extract(ROOT_CONTEXT, traceHeaders(cause), {
    get: (headers: Readonly<Record<string, string>>, name) => headers[name],
    keys: Object.keys,
  });
}

/** The context for children of a span. */
export function contextIn(span: Span): Context {
  return trace.setSpan(ROOT_CONTEXT, span);
}

/** The trace headers for a call that the span causes. */
export function traceOf(span: Span): TraceContext {
  const carrier: Record<string, string> = {};
  PROPAGATOR.inject(contextIn(span), carrier, {
    set: (headers: Record<string, string>, name, value) => {
      headers[name] = value;
    },
  });
  return { traceparent: carrier["traceparent"] ?? "", tracestate: carrier["tracestate"] ?? null };
}

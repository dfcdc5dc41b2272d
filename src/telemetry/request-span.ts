import { readTraceContext } from "@antiphon/base/trace-context.ts";
import type { RequestHead } from "@antiphon/http-kit/request-head.ts";
import { SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { contextOf, traceOf } from "./span-context.ts";
import type { RequestSpan } from "./tracing.ts";

const KNOWN_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** The span of one HTTP request, by OpenTelemetry's conventions for HTTP servers. */
export function beginRequestSpan(tracer: Tracer, caller: RequestHead): RequestSpan {
  const method = KNOWN_METHODS.has(caller.method) ? caller.method : "_OTHER";
  const span = tracer.startSpan(
    method,
    {
      kind: SpanKind.SERVER,
      attributes: { "http.request.method": method, "url.path": caller.path, "url.scheme": "http" },
    },
    contextOf(readTraceContext(caller.headers)),
  );
  return {
    trace: traceOf(span),
    end: ({ route, operationId, status, complete }) => {
      if (route !== null) {
        const template = route.replace(/:(\w+)/g, "{$1}");
        span.updateName(`${method} ${template}`).setAttribute("http.route", template);
      }
      if (operationId !== null) span.setAttribute("antiphon.operation", operationId);
      if (status !== null) span.setAttribute("http.response.status_code", status);
      const fault = !complete ? "client_left" : status !== null && status >= 500 ? String(status) : null;
      if (fault !== null) span.setAttribute("error.type", fault).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** The two headers of W3C Trace Context, which identify the trace and the causing span. Plain JSON. */
export interface TraceContext {
  readonly traceparent: string;
  /** Data of tracing systems; null if there is none. */
  readonly tracestate: string | null;
}

const TRACESTATE_CHARACTERS_MAX = 512;

/** Reads the trace headers of a request; null if they are missing or malformed. */
export function readTraceContext(headers: Readonly<Record<string, unknown>>): TraceContext | null {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string" || !isTraceparent(traceparent)) return null;
  const isUsable = typeof tracestate === "string" && /^[\x20-\x7e]+$/.test(tracestate);
  return { traceparent, tracestate: isUsable && tracestate.length <= TRACESTATE_CHARACTERS_MAX ? tracestate : null };
}

/** The trace headers for a call to another server. */
export function traceHeaders(trace: TraceContext | null | undefined): Readonly<Record<string, string>> {
  if (trace == null) return {};
  return { traceparent: trace.traceparent, ...(trace.tracestate === null ? {} : { tracestate: trace.tracestate }) };
}

/** Ids of only zeros are invalid. Later versions may append fields after another hyphen. */
function isTraceparent(text: string): boolean {
  const [, version, traceId, spanId, more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.{0,64})?$/.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return false;
  return /[1-9a-f]/.test(traceId ?? "") && /[1-9a-f]/.test(spanId ?? "");
}

import { isRecord } from "@antiphon/base/json/records.ts";
import { serveHttp } from "../kit/http-server.ts";

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** The span kind in OTLP: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  /** The status code in OTLP: 2 is an error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** An OpenTelemetry collector for OTLP in JSON, on a real port. */
export interface Collector {
  readonly origin: string;
  readonly spans: readonly CollectedSpan[];
  /** The body of every request, unparsed. */
  readonly texts: readonly string[];
  readonly headers: readonly Readonly<Record<string, unknown>>[];
}

export async function startCollector(status = 200): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const headers: Readonly<Record<string, unknown>>[] = [];
  const { url } = await serveHttp((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece) => (text += String(piece)));
    request.once("end", () => {
      texts.push(text);
      headers.push({ ...request.headers, path: request.url });
      if (status === 200) spans.push(...readSpans(JSON.parse(text)));
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  return { origin: url, spans, texts, headers };
}

function readSpans(body: unknown): CollectedSpan[] {
  return list(member(body, "resourceSpans")).flatMap((resourceSpans) => {
    const resource = attributesOf(member(resourceSpans, "resource"));
    return list(member(resourceSpans, "scopeSpans")).flatMap((scopeSpans) =>
      list(member(scopeSpans, "spans")).map((span) => readSpan(span, resource)),
    );
  });
}

function readSpan(span: unknown, resource: CollectedSpan["resource"]): CollectedSpan {
  const text = (name: string): string => {
    const value = member(span, name);
    return typeof value === "string" ? value : "";
  };
  return {
    name: text("name"),
    traceId: text("traceId"),
    spanId: text("spanId"),
    parentSpanId: text("parentSpanId"),
    kind: Number(member(span, "kind")),
    attributes: attributesOf(span),
    events: list(member(span, "events")).map((event) => String(member(event, "name"))),
    status: Number(member(member(span, "status"), "code") ?? 0),
    resource,
  };
}

function attributesOf(holder: unknown): Readonly<Record<string, unknown>> {
  const entries = list(member(holder, "attributes")).map((attribute) => [
    String(member(attribute, "key")),
    valueOf(member(attribute, "value")),
  ]);
  return Object.fromEntries(entries);
}

function valueOf(value: unknown): unknown {
  const values = member(value, "arrayValue");
  if (values !== undefined) return list(member(values, "values")).map(valueOf);
  return isRecord(value) ? Object.values(value)[0] : undefined;
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

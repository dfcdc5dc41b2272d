import type { Logger } from "@antiphon/base/logger.ts";
import { type Attributes, DiagLogLevel, diag } from "@opentelemetry/api";
import { parseKeyPairsIntoRecord } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { watchEngine } from "./model-span.ts";
import { beginRequestSpan } from "./request-span.ts";
import { beginRunSpan, beginToolSpan } from "./run-span.ts";
import type { Tracing } from "./tracing.ts";

export type SamplerName =
  | "always_on"
  | "always_off"
  | "traceidratio"
  | "parentbased_always_on"
  | "parentbased_always_off"
  | "parentbased_traceidratio";

export interface TracingOptions {
  /** The whole URL of the collector's OTLP endpoint (JSON over HTTP), such as `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** `name=value,name=value`, percent-encoded, as OpenTelemetry writes lists. */
  readonly headers: string;
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** The name of this server among several. */
  readonly node: string;
  /** In the same form as `headers`. */
  readonly resourceAttributes: string;
  readonly sampler: SamplerName;
  /** From 0 to 1, for the ratio samplers. */
  readonly ratio: number;
  readonly log: Logger;
}

/** The time limit of a collector for one batch. A stopping process waits at most this long. */
const EXPORT_TIMEOUT_MS = 3_000;
const DIAGNOSTIC_CHARACTERS_MAX = 300;

/** Creates spans and sends them in batches. Spans that cannot be sent are dropped; requests never wait for them. */
export function openTracing(options: TracingOptions): Tracing {
  diag.setLogger(diagnostics(options.log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const exporter = new OTLPTraceExporter({
    url: options.url,
    headers: parseKeyPairsIntoRecord(options.headers),
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes(resourceOf(options)),
    sampler: samplerOf(options),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("antiphon", options.serviceVersion);
  return {
    beginRequest: (caller) => beginRequestSpan(tracer, caller),
    beginRun: (run) => beginRunSpan(tracer, run),
    beginTool: (call) => beginToolSpan(tracer, call),
    watchEngine: (engine, server) => watchEngine(tracer, engine, server),
    close: async () => {
      const shutdown = provider
        .shutdown()
        .catch((error: unknown) => options.log.warn({ err: error }, "could not send spans"));
      await Promise.race([shutdown, new Promise((resolve) => setTimeout(resolve, EXPORT_TIMEOUT_MS).unref())]);
    },
  };
}

function resourceOf({ serviceName, serviceVersion, node, resourceAttributes }: TracingOptions): Attributes {
  return {
    "service.version": serviceVersion,
    "service.instance.id": node,
    ...parseKeyPairsIntoRecord(resourceAttributes),
    "service.name": serviceName,
  };
}

function samplerOf({ sampler, ratio }: TracingOptions): Sampler {
  const name = sampler.replace(/^parentbased_/, "");
  const root =
    name === "always_off"
      ? new AlwaysOffSampler()
      : name === "traceidratio"
        ? new TraceIdRatioBasedSampler(ratio)
        : new AlwaysOnSampler();
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

/** Logs the libraries' own messages, but not their details, which may repeat a collector's reply. */
function diagnostics(log: Logger) {
  const say =
    (level: "warn" | "debug") =>
    (message: string): void =>
      log[level]({ said: message.slice(0, DIAGNOSTIC_CHARACTERS_MAX) }, "tracing has a problem");
  return { error: say("warn"), warn: say("warn"), info: say("debug"), debug: say("debug"), verbose: say("debug") };
}

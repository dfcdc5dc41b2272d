import type { Setting } from "./setting.ts";

/** What the server tells of itself. */
export const WATCHING_SETTINGS = {
  logLevel: {
    name: "LOG_LEVEL",
    section: "Logs",
    kind: "choice",
    default: "info",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    text: "The least important line that is logged.",
  },

  metrics: {
    name: "METRICS",
    section: "Metrics",
    kind: "choice",
    default: "loopback",
    choices: ["loopback", "open", "off"],
    text: "Who may read /metrics where METRICS_KEY is not set: callers on this machine that come through no proxy, everyone who reaches the server, or nobody.",
  },
  metricsKey: {
    name: "METRICS_KEY",
    section: "Metrics",
    kind: "secret",
    default: null,
    text: "Who sends this as a bearer token, from wherever, may read /metrics, and nobody else.",
  },

  otlpEndpoint: {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    section: "Traces",
    kind: "url",
    default: null,
    defaultText: "no traces are made",
    text: "An OpenTelemetry collector that takes OTLP over HTTP, such as http://127.0.0.1:4318. Traces are sent to /v1/traces under it, as JSON.",
  },
  otlpTracesEndpoint: {
    name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    section: "Traces",
    kind: "url",
    default: null,
    text: "The same with its whole path, for collectors that have another.",
  },
  otlpHeaders: {
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    section: "Traces",
    kind: "secret",
    default: null,
    text: "Headers that the collector asks for: name=value, with commas between, percent-encoded.",
  },
  otelServiceName: {
    name: "OTEL_SERVICE_NAME",
    section: "Traces",
    kind: "string",
    default: "antiphon",
    text: "What this server is called in traces.",
  },
  otelResourceAttributes: {
    name: "OTEL_RESOURCE_ATTRIBUTES",
    section: "Traces",
    kind: "string",
    default: null,
    text: "What else traces say of this server: name=value, with commas between, percent-encoded.",
  },
  tracesSampler: {
    name: "OTEL_TRACES_SAMPLER",
    section: "Traces",
    kind: "choice",
    default: "parentbased_always_on",
    choices: [
      "always_on",
      "always_off",
      "traceidratio",
      "parentbased_always_on",
      "parentbased_always_off",
      "parentbased_traceidratio",
    ],
    text: "Which requests are traced. parentbased goes by the caller's trace where a request belongs to one.",
  },
  tracesSamplerArg: {
    name: "OTEL_TRACES_SAMPLER_ARG",
    section: "Traces",
    kind: "string",
    default: "1",
    text: "The share of traces that the samplers by ratio keep, from 0 to 1.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

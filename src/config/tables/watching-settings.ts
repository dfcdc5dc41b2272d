import type { Setting } from "../setting.ts";

/** Names, logs, metrics and traces. */
export const WATCHING_SETTINGS = {
  nodeName: {
    name: "NODE_NAME",
    section: "Logs",
    kind: "string",
    default: null,
    defaultText: "the host name of the machine",
    text: "Name of this server among several, in its log, metrics and traces: at most 63 letters, digits, dots, hyphens and underscores.",
  },
  logLevel: {
    name: "LOG_LEVEL",
    section: "Logs",
    kind: "choice",
    default: "info",
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    text: "Lowest level of the lines that are logged.",
  },
  logFormat: {
    name: "LOG_FORMAT",
    section: "Logs",
    kind: "choice",
    default: "auto",
    choices: ["auto", "json", "readable"],
    text: "Format of the log: JSON lines, or text for people, with colour unless NO_COLOR is set; auto uses text on a terminal.",
  },

  metrics: {
    name: "METRICS",
    section: "Metrics",
    kind: "choice",
    default: "loopback",
    choices: ["loopback", "open", "off"],
    text: "Who may read /metrics if METRICS_KEY is not set. loopback: callers on this machine that do not come through a proxy; open: everyone who can reach the server; off: nobody.",
  },
  metricsKey: {
    name: "METRICS_KEY",
    section: "Metrics",
    kind: "secret",
    default: null,
    text: "Bearer token that /metrics requires from every caller.",
  },

  otlpEndpoint: {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    section: "Traces",
    kind: "url",
    default: null,
    defaultText: "traces are off",
    text: "OpenTelemetry collector that accepts OTLP over HTTP, such as http://127.0.0.1:4318. Traces are sent as JSON to /v1/traces under this URL.",
  },
  otlpTracesEndpoint: {
    name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    section: "Traces",
    kind: "url",
    default: null,
    text: "Full URL for traces, for collectors with another path.",
  },
  otlpHeaders: {
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    section: "Traces",
    kind: "secret",
    default: null,
    text: "Headers for the collector: name=value pairs, separated by commas, percent-encoded.",
  },
  otelServiceName: {
    name: "OTEL_SERVICE_NAME",
    section: "Traces",
    kind: "string",
    default: "antiphon",
    text: "Name of this server in traces.",
  },
  otelResourceAttributes: {
    name: "OTEL_RESOURCE_ATTRIBUTES",
    section: "Traces",
    kind: "string",
    default: null,
    text: "Further attributes of this server in traces: name=value pairs, separated by commas, percent-encoded.",
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
    text: "Which requests are traced. The parentbased samplers follow the caller's decision if the request belongs to a trace.",
  },
  tracesSamplerArg: {
    name: "OTEL_TRACES_SAMPLER_ARG",
    section: "Traces",
    kind: "string",
    default: "1",
    text: "Share of traces kept by the ratio samplers, from 0 to 1.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

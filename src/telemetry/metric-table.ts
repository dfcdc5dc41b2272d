/** One metric as operators read of it. Labels have few values, all of them known: nothing that a client chooses. */
export interface Metric {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  readonly text: string;
  /** Upper bounds, of histograms. */
  readonly buckets?: readonly number[];
}

/** Seconds from a millisecond to ten minutes: answers take their time. */
const LONG = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Seconds of what should be over at once. */
const SHORT = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Every metric there is. The table in docs/operations.md is printed from here. */
export const METRICS = {
  httpRequests: counter(
    "antiphon_http_requests_total",
    ["operation", "status"],
    "Requests that were served. operation is that of the contract, or none; status is that of HTTP, or none where the client left before there was one.",
  ),
  httpDuration: histogram(
    "antiphon_http_request_duration_seconds",
    ["operation"],
    LONG,
    "How long requests took, to the last byte of their reply; a stream takes as long as its answer.",
  ),
  httpInFlight: gauge("antiphon_http_requests_in_flight", [], "Requests that are being served."),
  streamsOpen: gauge("antiphon_streams_open", [], "Replies among them that are streams."),
  webSocketsOpen: gauge("antiphon_websockets_open", [], "WebSocket connections that are open."),
  webSocketsOpened: counter("antiphon_websockets_opened_total", [], "WebSocket connections that were opened."),

  runsRunning: gauge(
    "antiphon_runs_running",
    ["mode"],
    "Responses that are being made. mode is foreground or background.",
  ),
  runsQueued: gauge("antiphon_runs_queued", [], "Background responses that wait for their turn."),
  runsBegun: counter(
    "antiphon_runs_begun_total",
    ["mode"],
    "Responses whose model was asked, by this server; those that the model server then refused among them.",
  ),
  runsEnded: counter(
    "antiphon_runs_ended_total",
    ["mode", "status"],
    "Responses that ended here. status is that of the response, or left where another server goes on with it.",
  ),
  runsFailed: counter(
    "antiphon_runs_failed_total",
    ["code"],
    "Those among them that failed, by the code that the response shows.",
  ),
  runsRefused: counter(
    "antiphon_runs_refused_total",
    ["reason"],
    "Responses that were not begun: runs or queue where a limit was reached, model where the model server refused, other.",
  ),
  runQueue: histogram("antiphon_run_queue_seconds", [], LONG, "How long background responses waited for their turn."),
  runFirstEvent: histogram(
    "antiphon_run_first_event_seconds",
    ["mode"],
    LONG,
    "From when a model was asked to the first event of its answer.",
  ),
  runDuration: histogram(
    "antiphon_run_duration_seconds",
    ["mode"],
    LONG,
    "From when a model was asked to the end of the response.",
  ),
  runEvents: counter("antiphon_run_events_total", [], "Events that were made of what models said."),
  tokens: counter(
    "antiphon_tokens_total",
    ["type"],
    "Tokens of responses that ended: input, and cached_input among them; output, and reasoning among them.",
  ),
  modelErrors: counter(
    "antiphon_model_errors_total",
    ["reason"],
    "Answers that a model server refused or gave up: authentication, quota, rate_limit, context_length, unknown_model, refused, timeout, unreachable, overloaded or failed.",
  ),

  commits: counter(
    "antiphon_store_commits_total",
    ["outcome"],
    "Commits of responses and events. outcome is stored or failed.",
  ),
  commitJobs: counter(
    "antiphon_store_commit_jobs_total",
    [],
    "What those commits stored together; many jobs share one.",
  ),
  commitDuration: histogram("antiphon_store_commit_duration_seconds", [], SHORT, "How long those commits took."),

  speechStreamsOpen: gauge("antiphon_speech_streams_open", [], "Streams of speech that are open on the local server."),
  speechStreamsOpened: counter("antiphon_speech_streams_opened_total", [], "Streams of speech that were opened."),
  speechAudio: counter("antiphon_speech_audio_seconds_total", [], "Sound that came to be transcribed, in seconds."),
  speechFinalWait: histogram(
    "antiphon_speech_final_wait_seconds",
    [],
    LONG,
    "From when a stream asked for what was said, by flush or end, to its transcript.",
  ),
  speechEngineRestarts: counter(
    "antiphon_speech_engine_restarts_total",
    [],
    "How often the speech engine had to be started anew.",
  ),

  eventLoopDelay: gauge(
    "antiphon_event_loop_delay_seconds",
    ["quantile"],
    "How late timers were since the metrics were last read; quantile is 0.5, 0.99 or 1.",
  ),
  eventLoopUse: gauge(
    "antiphon_event_loop_utilization",
    [],
    "The share of time the event loop was busy since the start.",
  ),
  processCpu: counter("process_cpu_seconds_total", [], "Processor time, of user and system together."),
  processMemory: gauge("process_resident_memory_bytes", [], "Memory that the process holds."),
  heapUsed: gauge("nodejs_heap_size_used_bytes", [], "Memory that JavaScript uses."),
  processStart: gauge("process_start_time_seconds", [], "When the process started, in Unix seconds."),
} as const satisfies Readonly<Record<string, Metric>>;

/** The table in docs/operations.md. */
export function metricsTable(): string {
  const rows = Object.values<Metric>(METRICS).map(
    ({ name, kind, labels, text }) =>
      `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${text} |`,
  );
  return `| Metric | Kind | Labels | |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

function counter(name: string, labels: readonly string[], text: string): Metric & { readonly kind: "counter" } {
  return { name, kind: "counter", labels, text };
}

function gauge(name: string, labels: readonly string[], text: string): Metric & { readonly kind: "gauge" } {
  return { name, kind: "gauge", labels, text };
}

function histogram(
  name: string,
  labels: readonly string[],
  buckets: readonly number[],
  text: string,
): Metric & { readonly kind: "histogram" } {
  return { name, kind: "histogram", labels, text, buckets };
}

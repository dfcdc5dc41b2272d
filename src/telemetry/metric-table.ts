import { counter, gauge, histogram, type Metric } from "./metric.ts";

/** Buckets for whole answers, in seconds. */
const LONG = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Buckets for short operations, in seconds. */
const SHORT = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Buckets for the turns of one response. */
const TURNS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64];

/** Every metric. The table in docs/operations.md is generated from it. */
export const METRICS = {
  httpRequests: counter(
    "antiphon_http_requests_total",
    ["operation", "status"],
    "Requests served. operation is the contract's operation id, or none; status is the HTTP status, or none if the client left before the reply.",
  ),
  httpDuration: histogram(
    "antiphon_http_request_duration_seconds",
    ["operation"],
    LONG,
    "Time from a request to the last byte of its reply. A stream counts until its end.",
  ),
  httpInFlight: gauge("antiphon_http_requests_in_flight", [], "Requests in progress."),
  streamsOpen: gauge("antiphon_streams_open", [], "Streams among the requests in progress."),
  webSocketsOpen: gauge("antiphon_websockets_open", [], "Open WebSocket connections."),
  webSocketsOpened: counter("antiphon_websockets_opened_total", [], "WebSocket connections opened."),

  runsRunning: gauge("antiphon_runs_running", ["mode"], "Responses in progress. mode is foreground or background."),
  runsQueued: gauge("antiphon_runs_queued", [], "Background responses waiting in the queue."),
  runsBegun: counter(
    "antiphon_runs_begun_total",
    ["mode"],
    "Responses for which this server called a model, including refused calls.",
  ),
  runsEnded: counter(
    "antiphon_runs_ended_total",
    ["mode", "status"],
    "Responses that ended on this server. status is the response's status, or left if another server continues it.",
  ),
  runsByFace: counter(
    "antiphon_runs_by_face_total",
    ["face"],
    "Responses that ended on this server. face is the door by which they were asked for: responses, chat, completions or messages.",
  ),
  runsFailed: counter("antiphon_runs_failed_total", ["code"], "Failed responses, by their error code."),
  runsRefused: counter(
    "antiphon_runs_refused_total",
    ["reason"],
    "Responses that did not start. reason is runs or queue if that limit was reached, model if the model server refused, or other.",
  ),
  runsInterrupted: counter(
    "antiphon_runs_interrupted_total",
    ["by"],
    "Interrupted responses that this server continued. by is crash (their server died), handover (it was stopped) or store (the database was down for too long).",
  ),
  runsWaited: counter(
    "antiphon_runs_waited_total",
    [],
    "Turns that failed for a temporary reason and were retried after a pause.",
  ),
  runsContinued: counter(
    "antiphon_runs_continued_total",
    ["how"],
    "Items that were interrupted. how is same_item if they continued where they stopped, or new_item if the model started another one.",
  ),
  runQueue: histogram("antiphon_run_queue_seconds", [], LONG, "Time background responses waited in the queue."),
  runFirstEvent: histogram(
    "antiphon_run_first_event_seconds",
    ["mode"],
    LONG,
    "Time from the call of a model to the first event of its answer.",
  ),
  runDuration: histogram(
    "antiphon_run_duration_seconds",
    ["mode"],
    LONG,
    "Time from the call of a model to the end of the response.",
  ),
  runEvents: counter("antiphon_run_events_total", [], "Events made from the answers of models."),
  tokens: counter(
    "antiphon_tokens_total",
    ["type"],
    "Tokens of ended responses. type is input, output, cached_input (part of input) or reasoning (part of output).",
  ),
  modelErrors: counter(
    "antiphon_model_errors_total",
    ["reason"],
    "Answers that a model server refused or broke off. reason is authentication, quota, rate_limit, context_length, unknown_model, refused, timeout, unreachable, overloaded or failed.",
  ),

  toolCalls: counter(
    "antiphon_tool_calls_total",
    ["tool", "outcome"],
    "Ended calls of this server's tools. tool is the kind; outcome is completed, failed, unknown (interrupted; may have taken effect), incomplete, asked (needs the client's answer), told (wrong arguments), broken (a bug of this server) or cut (the response ended first).",
  ),
  effects: counter(
    "antiphon_effects_total",
    ["state"],
    "Calls that may change something outside this server. state is done, failed (it certainly did nothing, or its tool says so), asked (the tool asks the user first), unknown (nobody knows whether it acted) or repeated (unknown, and made again with the same key).",
  ),
  toolDuration: histogram("antiphon_tool_seconds", ["tool"], LONG, "Duration of these calls."),
  toolTurns: histogram(
    "antiphon_tool_turns",
    [],
    TURNS,
    "Turns of the model in one response with tools of this server.",
  ),
  toolLimits: counter(
    "antiphon_tool_limit_total",
    ["limit"],
    "Times that a limit restricted the tool loop. limit is max_tool_calls (of the request), calls, turns, output_tokens or repeated (the model made the same call too often).",
  ),
  toolsOmitted: counter(
    "antiphon_tools_omitted_total",
    ["tool"],
    "Unavailable tools that were left out of requests. tool is the kind, or other.",
  ),

  modelAttempts: counter(
    "antiphon_model_attempts_total",
    ["server", "outcome"],
    "Turns that a model server of MODELS_FILE was asked for. outcome is answered, refused (the request was at fault), limited (429) or failed.",
  ),
  modelFallbacks: counter(
    "antiphon_model_fallbacks_total",
    ["server"],
    "Turns that another model server was asked for, because this one failed before its answer began.",
  ),
  modelServerState: gauge(
    "antiphon_model_server_breaker",
    ["server"],
    "State of the breaker of a model server: 0 closed, 1 half open, 2 open.",
    "highest",
  ),
  modelServerLoad: gauge("antiphon_model_server_requests", ["server"], "Requests under way at a model server."),
  modelServerQueue: gauge("antiphon_model_server_waiting", ["server"], "Requests that wait for a model server."),

  codeSessions: gauge(
    "antiphon_code_sessions",
    ["engine"],
    "Sessions that run code, idle ones included. engine is pyodide, bubblewrap or docker.",
  ),
  codeKills: counter(
    "antiphon_code_kills_total",
    ["reason"],
    "Ended sessions. reason is timed_out, out_of_memory, too_many_processes, too_much_output, crashed, cancelled (with their response), displaced (idle, for another container), outdated (another process has run code in the container since), gone (with their container) or closed (with the server).",
  ),

  ingestFiles: counter(
    "antiphon_ingest_files_total",
    ["outcome"],
    "Attempts to ingest a file into a vector store. outcome is completed, unsupported_file, invalid_file, server_error, lost (removed or cancelled meanwhile) or returned (left for a later attempt).",
  ),
  ingestQueue: gauge(
    "antiphon_ingest_queue",
    [],
    "Files waiting for or in ingestion into vector stores, at the last check. With several processes, the highest of their values.",
    "highest",
  ),

  webhookAttempts: counter(
    "antiphon_webhook_attempts_total",
    ["outcome"],
    "Attempts to deliver an event to a webhook. outcome is accepted, failed or lost (the endpoint was deleted, or another server has the event).",
  ),
  batchLinesRunning: gauge("antiphon_batch_lines_running", [], "Lines of batches that are being answered."),
  batchLines: counter(
    "antiphon_batch_lines_total",
    ["outcome"],
    "Answers to lines of batches. put_off: a fault that may pass, so the line is tried again. lost: another process has settled it.",
  ),
  batchEnds: counter("antiphon_batches_ended_total", ["status"], "Batches that have ended."),
  webhooksWaiting: gauge(
    "antiphon_webhooks_waiting",
    [],
    "Events that wait to be delivered, at the last check. With several processes, the highest of their values.",
    "highest",
  ),
  webhookDelay: gauge(
    "antiphon_webhook_delay_seconds",
    [],
    "The age of the event that has been due longest, at the last check. With several processes, the highest of their values.",
    "highest",
  ),

  runsUnmade: gauge(
    "antiphon_runs_unmade",
    [],
    "Responses without a live server at the last check: queued in the database, or of a dead server. With several processes, the highest of their values.",
    "highest",
  ),
  runsClaimed: counter(
    "antiphon_runs_claimed_total",
    ["from"],
    "Responses that this server took over. from is queue (another server left them), dead (their server died or was cut off) or own (its own, before it lost its lease).",
  ),
  leasesLost: counter(
    "antiphon_leases_lost_total",
    [],
    "Times that this server renewed its lease too late, so that others could take its responses.",
  ),

  databaseConnections: gauge(
    "antiphon_database_connections",
    ["lane", "state"],
    "Connections to PostgreSQL. lane is commits, lease or other; state is busy or idle.",
  ),
  databaseWaiting: gauge("antiphon_database_waiting", ["lane"], "Statements waiting for a connection to PostgreSQL."),

  commits: counter(
    "antiphon_store_commits_total",
    ["outcome"],
    "Commits of responses and events. outcome is stored or failed.",
  ),
  commitJobs: counter(
    "antiphon_store_commit_jobs_total",
    [],
    "Jobs stored by those commits. Many jobs share one commit.",
  ),
  commitDuration: histogram("antiphon_store_commit_duration_seconds", [], SHORT, "Duration of these commits."),

  busMessages: counter(
    "antiphon_bus_messages_total",
    ["direction"],
    "Messages between servers of one database. direction is sent or heard.",
  ),
  busDropped: counter(
    "antiphon_bus_dropped_total",
    ["reason"],
    "Messages that were not sent or not read. reason is full (too many waiting), away (no connection to the broker) or unread (from another version). Readers then poll the database.",
  ),
  busConnected: gauge(
    "antiphon_bus_connected",
    [],
    "1 if the broker can be reached, otherwise 0. With several processes, the lowest of their values.",
    "lowest",
  ),
  busSilent: gauge(
    "antiphon_bus_silent_workers",
    [],
    "Servers with watched responses that have been silent for a second, so that the database is polled instead.",
  ),
  busReconnects: counter("antiphon_bus_reconnects_total", [], "Reconnections to the broker."),
  busAnswer: histogram(
    "antiphon_bus_answer_seconds",
    [],
    SHORT,
    "Round-trip time to another server: twice the delay of a reader there.",
  ),
  runsWatched: gauge(
    "antiphon_runs_watched",
    ["where"],
    "Responses with readers on another server. where is elsewhere (made here, read there) or here (made there, read here).",
  ),
  busCatchUps: counter(
    "antiphon_bus_catch_ups_total",
    ["reason"],
    "Times that the database was polled for events of other servers. reason is missed (messages were lost) or silent (nothing arrived for a second).",
  ),

  speechStreamsOpen: gauge("antiphon_speech_streams_open", [], "Open speech streams on the local server."),
  speechStreamsOpened: counter("antiphon_speech_streams_opened_total", [], "Speech streams opened."),
  speechAudio: counter("antiphon_speech_audio_seconds_total", [], "Seconds of sound received for transcription."),
  speechFinalWait: histogram(
    "antiphon_speech_final_wait_seconds",
    [],
    LONG,
    "Time from a stream's flush or end message to its transcript.",
  ),
  speechEngineRestarts: counter("antiphon_speech_engine_restarts_total", [], "Restarts of the speech engine."),

  node: gauge("antiphon_node", ["node"], "1, with the name of this server as a label: NODE_NAME.", "highest"),
  eventLoopDelay: gauge(
    "antiphon_event_loop_delay_seconds",
    ["quantile"],
    "Delay of timers since the metrics were last read. quantile is 0.5, 0.99 or 1. With several processes, the highest of their values.",
    "highest",
  ),
  eventLoopUse: gauge(
    "antiphon_event_loop_utilization",
    [],
    "Share of time that the event loop was busy, since the start. With several processes, the highest of their values.",
    "highest",
  ),
  processCpu: counter("process_cpu_seconds_total", [], "CPU time, user and system together."),
  processMemory: gauge("process_resident_memory_bytes", [], "Resident memory of the process."),
  heapUsed: gauge("nodejs_heap_size_used_bytes", [], "Used JavaScript heap."),
  processStart: gauge(
    "process_start_time_seconds",
    [],
    "Start time of the process, in Unix seconds. With several processes, of the oldest.",
    "lowest",
  ),
} as const satisfies Readonly<Record<string, Metric>>;

/** The table in docs/operations.md. */
export function metricsTable(): string {
  const rows = Object.values<Metric>(METRICS).map(
    ({ name, kind, labels, text }) =>
      `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${text} |`,
  );
  return `| Metric | Kind | Labels | |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

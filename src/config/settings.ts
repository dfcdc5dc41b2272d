import { availableParallelism } from "node:os";
import type { Setting } from "./setting.ts";
import { ANSWER_SETTINGS } from "./tables/answer-settings.ts";
import { CLOUD_SETTINGS } from "./tables/cloud-settings.ts";
import { CODE_SETTINGS } from "./tables/code-settings.ts";
import { DATABASE_SETTINGS } from "./tables/database-settings.ts";
import { EMBEDDED_MODEL_SETTINGS } from "./tables/embedded-model-settings.ts";
import { FILE_SETTINGS } from "./tables/file-settings.ts";
import { FORMATTING_SETTINGS } from "./tables/formatting-settings.ts";
import { IMAGE_SETTINGS } from "./tables/image-settings.ts";
import { INPUT_SETTINGS } from "./tables/input-settings.ts";
import { INSPECTION_SETTINGS } from "./tables/inspection-settings.ts";
import { MCP_SETTINGS } from "./tables/mcp-settings.ts";
import { MODEL_SETTINGS } from "./tables/model-settings.ts";
import { RATE_SETTINGS } from "./tables/rate-settings.ts";
import { RUN_SETTINGS } from "./tables/run-settings.ts";
import { SPEECH_SETTINGS } from "./tables/speech-settings.ts";
import { STORAGE_SETTINGS } from "./tables/storage-settings.ts";
import { TOOL_SETTINGS } from "./tables/tool-settings.ts";
import { VECTOR_STORE_SETTINGS } from "./tables/vector-store-settings.ts";
import { VOICE_SETTINGS } from "./tables/voice-settings.ts";
import { WATCHING_SETTINGS } from "./tables/watching-settings.ts";
import { WEB_SEARCH_SETTINGS } from "./tables/web-search-settings.ts";

const MEBIBYTE = 1024 * 1024;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const PROCESSES_MAX = 64;

/** Every setting. `.env.example`, the help text and docs/configuration.md are generated from it. */
export const SETTINGS = {
  host: {
    name: "HOST",
    section: "Servers",
    kind: "string",
    default: "127.0.0.1",
    text: "Address the Responses API listens on. 0.0.0.0 opens it to the network. Sockets opened by systemd (LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES) replace addresses.",
  },
  port: {
    name: "PORT",
    section: "Servers",
    kind: "integer",
    default: 8080,
    min: 0,
    max: 65_535,
    text: "Port of the Responses API. 0 picks a free port.",
  },
  sttPort: {
    name: "STT_PORT",
    section: "Servers",
    kind: "integer",
    default: 8237,
    min: 0,
    max: 65_535,
    text: "Port of the speech-to-text server, which always listens on the loopback address. 0 picks a free port.",
  },
  apiKeys: {
    name: "API_KEYS",
    section: "Servers",
    kind: "secrets",
    default: [],
    defaultText: "a key created at the first start, in DATA_DIR/api-key",
    text: "Keys for the Responses API and the cloud stream, separated by commas. Write key=organization/project to set the owner of a key. Like every setting, it can also be a file of this name in CREDENTIALS_DIRECTORY, where systemd puts secrets.",
  },
  corsOrigins: {
    name: "CORS_ORIGINS",
    section: "Servers",
    kind: "list",
    default: ["loopback"],
    text: "Origins of web pages that may call the Responses API from a browser, such as https://app.example.com, separated by commas. Pages need a key like any other client. loopback allows pages of this machine, such as the chat lab; * allows every page; none allows no page.",
  },
  processes: {
    name: "PROCESSES",
    section: "Servers",
    kind: "integer",
    default: 1,
    min: 1,
    max: PROCESSES_MAX,
    auto: () => Math.min(PROCESSES_MAX, Math.max(1, availableParallelism() - 1)),
    text: "How many processes serve the Responses API, on one port and one database. auto: one fewer than the CPU cores. More than 1 helps only if cores are free. docs/operations.md describes what they share.",
  },
  drainMs: {
    name: "DRAIN_MS",
    section: "Servers",
    kind: "duration",
    default: 10 * SECOND,
    min: 0,
    max: 10 * MINUTE,
    text: "How long a stopping server waits for open requests to finish.",
  },
  restartDrainMs: {
    name: "RESTART_DRAIN_MS",
    section: "Servers",
    kind: "duration",
    default: 120 * MINUTE,
    min: 0,
    max: 7 * DAY,
    text: "How long a process replaced by SIGHUP may finish its work while others serve. Used with PROCESSES above 1. If the process is told to stop, DRAIN_MS applies instead.",
  },
  drainDelayMs: {
    name: "DRAIN_DELAY_MS",
    section: "Servers",
    kind: "duration",
    default: 0,
    min: 0,
    max: 10 * MINUTE,
    text: "How long a stopping server still accepts requests while /readyz already answers 503, so that load balancers notice. DRAIN_MS starts after this time.",
  },
  validateReplies: {
    name: "VALIDATE_REPLIES",
    section: "Servers",
    kind: "boolean",
    default: null,
    defaultText: "true, but false if NODE_ENV is production",
    text: "Check replies and events against the contract before sending them.",
  },

  ...MODEL_SETTINGS,
  ...EMBEDDED_MODEL_SETTINGS,

  ...INPUT_SETTINGS,

  ...TOOL_SETTINGS,

  ...VOICE_SETTINGS,
  ...WEB_SEARCH_SETTINGS,
  ...MCP_SETTINGS,
  ...CODE_SETTINGS,
  ...IMAGE_SETTINGS,
  ...VECTOR_STORE_SETTINGS,

  ...SPEECH_SETTINGS,

  ...CLOUD_SETTINGS,

  ...FORMATTING_SETTINGS,

  ...STORAGE_SETTINGS,
  ...INSPECTION_SETTINGS,
  ...DATABASE_SETTINGS,

  ...FILE_SETTINGS,

  bodyBytesMax: {
    name: "BODY_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 64 * MEBIBYTE,
    min: 1024,
    max: 1024 * MEBIBYTE,
    text: "Largest JSON body or WebSocket message, in bytes.",
  },
  contextBytesMax: {
    name: "CONTEXT_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 64 * MEBIBYTE,
    min: 1024,
    max: 1024 * MEBIBYTE,
    text: "Most bytes of stored text that one request may load for its model, from earlier responses or its conversation. Items that it references may add the same amount. A larger request fails with context_length_exceeded before the text is read.",
  },
  incomingBytesMax: {
    name: "INCOMING_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: null,
    defaultText: "four times the larger of BODY_BYTES_MAX and BACKEND_MAX_UPLOAD_MB",
    min: 1024,
    max: 64 * 1024 * MEBIBYTE,
    text: "Most bytes that all requests and WebSocket messages together may occupy in memory while they are read and decompressed. Beyond that, requests of more than 64 kB get 503. The value is never below the largest allowed body.",
  },
  ownerBytesMax: {
    name: "OWNER_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 0,
    min: 0,
    max: 1_000_000_000_000_000,
    text: "Most bytes of responses, conversations and files stored for one owner (organization and project). Requests beyond that fail with insufficient_quota. 0 sets no limit. Event logs are not counted. The first start with this setting counts what is already stored.",
  },
  uploadBytesMax: {
    name: "UPLOAD_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 512 * MEBIBYTE,
    min: 1,
    max: 16 * 1024 * MEBIBYTE,
    text: "Largest file that can be uploaded to the Responses API, in bytes.",
  },
  uploadMegabytesMax: {
    name: "BACKEND_MAX_UPLOAD_MB",
    section: "Limits",
    kind: "integer",
    default: 20,
    min: 1,
    max: 1024,
    text: "Largest audio file that the speech-to-text server accepts, in megabytes.",
  },
  unreadBytesMax: {
    name: "UNREAD_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 256 * MEBIBYTE,
    min: 1024,
    max: 64 * 1024 * MEBIBYTE,
    text: "Most bytes that unread replies may occupy in memory, all clients together. Beyond that, the server closes the connection whose client has been idle longest. A stored response continues without its client.",
  },
  unreadTimeoutMs: {
    name: "UNREAD_TIMEOUT_MS",
    section: "Limits",
    kind: "duration",
    default: 5 * MINUTE,
    min: 1,
    max: DAY,
    text: "How long a client may leave a reply unread. After that, its connection is closed.",
  },
  runsMax: {
    name: "RUNS_MAX",
    section: "Limits",
    kind: "integer",
    default: 1000,
    min: 1,
    max: 1_000_000,
    text: "Most responses in progress at the same time. Further requests are told to retry later.",
  },
  ...RATE_SETTINGS,

  ...RUN_SETTINGS,
  ...ANSWER_SETTINGS,

  runTimeoutMs: {
    name: "RUN_TIMEOUT_MS",
    section: "Limits",
    kind: "duration",
    default: 2 * 60 * MINUTE,
    min: 1,
    max: 7 * DAY,
    text: "How long one response may take, from the first call of its model. After that, it fails.",
  },
  websocketConnectionsMax: {
    name: "WEBSOCKET_CONNECTIONS_MAX",
    section: "Limits",
    kind: "integer",
    default: 1000,
    min: 1,
    max: 1_000_000,
    text: "Most WebSocket connections at the same time. Further ones are told to retry later.",
  },
  websocketConnectionsPerKeyMax: {
    name: "WEBSOCKET_CONNECTIONS_PER_KEY_MAX",
    section: "Limits",
    kind: "integer",
    default: 500,
    min: 1,
    max: 1_000_000,
    text: "Most WebSocket connections of one key at the same time. Further ones get 429.",
  },

  websocketMode: {
    name: "WEBSOCKET_MODE",
    section: "Streams",
    kind: "boolean",
    default: true,
    text: "Serve /v1/responses over WebSocket. If false, clients are told to use HTTP.",
  },
  websocketLifetimeMs: {
    name: "WEBSOCKET_LIFETIME_MS",
    section: "Streams",
    kind: "duration",
    default: 60 * MINUTE,
    min: 1,
    max: DAY,
    text: "Longest life of a WebSocket connection. Responses in progress then get up to 5 more minutes.",
  },
  streamStartWaitMs: {
    name: "STREAM_START_WAIT_MS",
    section: "Streams",
    kind: "duration",
    default: 10 * SECOND,
    min: 0,
    max: 10 * MINUTE,
    text: "How long a streamed response waits for its model server before the stream opens. Errors within this time are plain HTTP errors; later errors are events in the stream.",
  },
  sseKeepAliveMs: {
    name: "SSE_KEEP_ALIVE_MS",
    section: "Streams",
    kind: "duration",
    default: 15 * SECOND,
    min: 0,
    max: 10 * MINUTE,
    text: "A stream without an event for this time sends a keep-alive comment. 0 sends none.",
  },

  ...WATCHING_SETTINGS,
} as const satisfies Readonly<Record<string, Setting>>;

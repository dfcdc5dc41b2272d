import { ANSWER_SETTINGS } from "./answer-settings.ts";
import { CLOUD_SETTINGS } from "./cloud-settings.ts";
import { FORMATTING_SETTINGS } from "./formatting-settings.ts";
import { INPUT_SETTINGS } from "./input-settings.ts";
import { MODEL_SETTINGS } from "./model-settings.ts";
import type { Setting } from "./setting.ts";
import { SPEECH_SETTINGS } from "./speech-settings.ts";
import { STORAGE_SETTINGS } from "./storage-settings.ts";
import { VOICE_SETTINGS } from "./voice-settings.ts";
import { WATCHING_SETTINGS } from "./watching-settings.ts";

const MEBIBYTE = 1024 * 1024;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;

/** Every setting there is. `.env.example`, the help text and the README's table are printed from here. */
export const SETTINGS = {
  host: {
    name: "HOST",
    section: "Servers",
    kind: "string",
    default: "127.0.0.1",
    text: "The address that the Responses API listens on. 0.0.0.0 offers it to the network.",
  },
  port: {
    name: "PORT",
    section: "Servers",
    kind: "integer",
    default: 8080,
    min: 0,
    max: 65_535,
    text: "The port of the Responses API. 0 takes any free one.",
  },
  sttPort: {
    name: "STT_PORT",
    section: "Servers",
    kind: "integer",
    default: 8237,
    min: 0,
    max: 65_535,
    text: "The port of the speech-to-text server, which always listens on the loopback address. 0 takes any free one.",
  },
  apiKeys: {
    name: "API_KEYS",
    section: "Servers",
    kind: "secrets",
    default: [],
    defaultText: "a key made at the first start, in DATA_DIR/api-key",
    text: "Keys that may call the Responses API and the cloud stream, separated by commas. key=organization/project says for whom one acts.",
  },
  corsOrigins: {
    name: "CORS_ORIGINS",
    section: "Servers",
    kind: "list",
    default: ["loopback"],
    text: "Web pages that may call the Responses API from a browser, with a key like anybody else: their origins, such as https://app.example.com, separated by commas; loopback for the pages of this machine, the chat lab among them; * for every page; none.",
  },
  drainMs: {
    name: "DRAIN_MS",
    section: "Servers",
    kind: "duration",
    default: 10 * SECOND,
    min: 0,
    max: 10 * MINUTE,
    text: "How long a server that is told to stop lets its open requests finish.",
  },
  drainDelayMs: {
    name: "DRAIN_DELAY_MS",
    section: "Servers",
    kind: "duration",
    default: 0,
    min: 0,
    max: 10 * MINUTE,
    text: "How long a server that is told to stop goes on taking requests while /readyz already answers 503, so that load balancers notice. DRAIN_MS begins after it.",
  },
  validateReplies: {
    name: "VALIDATE_REPLIES",
    section: "Servers",
    kind: "boolean",
    default: null,
    defaultText: "true, but false where NODE_ENV is production",
    text: "Whether replies and events are checked against the contract before they are sent.",
  },

  ...MODEL_SETTINGS,

  ...INPUT_SETTINGS,

  ...VOICE_SETTINGS,

  ...SPEECH_SETTINGS,

  ...CLOUD_SETTINGS,

  ...FORMATTING_SETTINGS,

  ...STORAGE_SETTINGS,

  bodyBytesMax: {
    name: "BODY_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 64 * MEBIBYTE,
    min: 1024,
    max: 1024 * MEBIBYTE,
    text: "The largest JSON body, or WebSocket message, that is read.",
  },
  contextBytesMax: {
    name: "CONTEXT_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 64 * MEBIBYTE,
    min: 1024,
    max: 1024 * MEBIBYTE,
    text: "How much stored text one request may bring to its model: the responses before it or its conversation, and as much again by references to items. What is more is refused with context_length_exceeded before it is read.",
  },
  incomingBytesMax: {
    name: "INCOMING_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: null,
    defaultText: "four times the larger of BODY_BYTES_MAX and BACKEND_MAX_UPLOAD_MB",
    min: 1024,
    max: 64 * 1024 * MEBIBYTE,
    text: "What requests and WebSocket messages may hold in memory while they are read and unpacked, all of them together. Beyond it those of more than 64 kB are asked to come back later. It is never less than one body may have.",
  },
  ownerBytesMax: {
    name: "OWNER_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 0,
    min: 0,
    max: 1_000_000_000_000_000,
    text: "How many bytes of responses, conversations and files are stored for one owner (organization and project); more is refused with insufficient_quota. 0: as many as there is room for. The logs of events come on top. The first start with it counts what is there.",
  },
  uploadBytesMax: {
    name: "UPLOAD_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 512 * MEBIBYTE,
    min: 1,
    max: 16 * 1024 * MEBIBYTE,
    text: "The largest file that can be uploaded to the Responses API.",
  },
  uploadMegabytesMax: {
    name: "BACKEND_MAX_UPLOAD_MB",
    section: "Limits",
    kind: "integer",
    default: 20,
    min: 1,
    max: 1024,
    text: "The largest audio file that the speech-to-text server takes, in megabytes.",
  },
  unreadBytesMax: {
    name: "UNREAD_BYTES_MAX",
    section: "Limits",
    kind: "integer",
    default: 256 * MEBIBYTE,
    min: 1024,
    max: 64 * 1024 * MEBIBYTE,
    text: "What replies may hold in memory that were written and not yet read, all of them together. Beyond it the connection is cut whose client has read nothing for longest; a stored response goes on without it.",
  },
  unreadTimeoutMs: {
    name: "UNREAD_TIMEOUT_MS",
    section: "Limits",
    kind: "duration",
    default: 5 * MINUTE,
    min: 1,
    max: DAY,
    text: "How long a client may read nothing of a reply that waits for it. Then it is taken to have left.",
  },
  runsMax: {
    name: "RUNS_MAX",
    section: "Limits",
    kind: "integer",
    default: 1000,
    min: 1,
    max: 1_000_000,
    text: "Responses that are made at the same time. Further requests are asked to come back later.",
  },
  rateLimitRequestsPerMinute: {
    name: "RATE_LIMIT_REQUESTS_PER_MINUTE",
    section: "Limits",
    kind: "integer",
    default: 1_000_000,
    min: 1,
    max: 1_000_000_000_000,
    text: "Responses that a key may ask for in a minute, unless it has a limit of its own.",
  },
  rateLimitTokensPerMinute: {
    name: "RATE_LIMIT_TOKENS_PER_MINUTE",
    section: "Limits",
    kind: "integer",
    default: 1_000_000_000,
    min: 1,
    max: 1_000_000_000_000,
    text: "Tokens, of input and output together, that a key may use in a minute, unless it has a limit of its own.",
  },
  backgroundRunsMax: {
    name: "BACKGROUND_RUNS_MAX",
    section: "Limits",
    kind: "integer",
    default: 100,
    min: 1,
    max: 1_000_000,
    text: "How many of the responses that are made at the same time may be background ones. Further ones wait for their turn.",
  },
  runQueueMax: {
    name: "RUN_QUEUE_MAX",
    section: "Limits",
    kind: "integer",
    default: 1000,
    min: 0,
    max: 1_000_000,
    text: "Background responses that wait for their turn. Further requests are asked to come back later.",
  },
  ...ANSWER_SETTINGS,

  runTimeoutMs: {
    name: "RUN_TIMEOUT_MS",
    section: "Limits",
    kind: "duration",
    default: 2 * 60 * MINUTE,
    min: 1,
    max: 7 * DAY,
    text: "How long one response may take, from when its model is asked. Then it ends as failed.",
  },
  websocketConnectionsMax: {
    name: "WEBSOCKET_CONNECTIONS_MAX",
    section: "Limits",
    kind: "integer",
    default: 1000,
    min: 1,
    max: 1_000_000,
    text: "WebSocket connections at the same time. Further ones are asked to come back later.",
  },
  websocketConnectionsPerKeyMax: {
    name: "WEBSOCKET_CONNECTIONS_PER_KEY_MAX",
    section: "Limits",
    kind: "integer",
    default: 500,
    min: 1,
    max: 1_000_000,
    text: "How many of them one key may have. Further ones are refused with 429.",
  },

  websocketMode: {
    name: "WEBSOCKET_MODE",
    section: "Streams",
    kind: "boolean",
    default: true,
    text: "Whether /v1/responses can be talked to over WebSocket. Where it cannot, clients are told to use HTTP.",
  },
  websocketLifetimeMs: {
    name: "WEBSOCKET_LIFETIME_MS",
    section: "Streams",
    kind: "duration",
    default: 60 * MINUTE,
    min: 1,
    max: DAY,
    text: "How long a WebSocket connection lives. Responses that are being made by then may end, for 5 minutes at most.",
  },
  streamStartWaitMs: {
    name: "STREAM_START_WAIT_MS",
    section: "Streams",
    kind: "duration",
    default: 10 * SECOND,
    min: 0,
    max: 10 * MINUTE,
    text: "How long a streamed response waits for its model server before it begins. An error within this time is a plain HTTP error; after it the stream is open and tells errors as events.",
  },
  sseKeepAliveMs: {
    name: "SSE_KEEP_ALIVE_MS",
    section: "Streams",
    kind: "duration",
    default: 15 * SECOND,
    min: 0,
    max: 10 * MINUTE,
    text: "After how long without an event a stream says that it is alive. 0 says nothing.",
  },

  ...WATCHING_SETTINGS,
} as const satisfies Readonly<Record<string, Setting>>;

import type { Setting } from "../setting.ts";

const DAY = 86_400_000;
const MEBIBYTE = 1024 * 1024;

/** Data stored for operators who inspect responses. */
export const INSPECTION_SETTINGS = {
  keepExchanges: {
    name: "KEEP_EXCHANGES",
    section: "Storage",
    kind: "choice",
    default: "none",
    choices: ["none", "stored"],
    text: "Whether requests to model servers, MCP servers and search servers, and their replies, are stored for stored responses. none: nothing; stored: the first 256 KiB of each body, for up to 64 calls and 4 MiB of a response. Keys and cookies are never stored.",
  },
  facesStore: {
    name: "FACES_STORE",
    section: "Storage",
    kind: "choice",
    default: "asked",
    choices: ["all", "asked"],
    text: "Which chat completions and messages are stored. asked: chat completions with store true; all: every one, so that the inspector shows it. Lists of chat completions show only those with store true.",
  },
  exchangesTtlMs: {
    name: "EXCHANGES_TTL",
    section: "Storage",
    kind: "duration",
    default: 7 * DAY,
    min: 1000,
    max: 36_500 * DAY,
    needsUnit: true,
    text: "How long stored exchanges are kept, such as 12h or 7d. They are deleted with their response at the latest.",
  },
  ownerExchangeBytesMax: {
    name: "OWNER_EXCHANGE_BYTES_MAX",
    section: "Storage",
    kind: "integer",
    default: 256 * MEBIBYTE,
    min: 0,
    max: 1_000_000_000_000_000,
    text: "Most bytes of stored exchanges of one owner (organization and project). Beyond that, the oldest are removed; requests never fail because of it. 0 sets no limit. They do not count towards OWNER_BYTES_MAX.",
  },
  pricesFile: {
    name: "PRICES_FILE",
    section: "Storage",
    kind: "path",
    default: null,
    text: "YAML file with prices of models, shown in lists and statistics of responses. docs/inspector-api.md describes it.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

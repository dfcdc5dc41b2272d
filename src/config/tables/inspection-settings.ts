import type { Setting } from "../setting.ts";

const DAY = 86_400_000;
const MEBIBYTE = 1024 * 1024;

/** What is kept for operators who look at responses. */
export const INSPECTION_SETTINGS = {
  keepExchanges: {
    name: "KEEP_EXCHANGES",
    section: "Storage",
    kind: "choice",
    default: "none",
    choices: ["none", "stored"],
    text: "Whether what model servers, MCP servers and search servers were asked for a stored response, and what they answered, is kept in the database. none: nothing; stored: the first 256 KiB of each body, for up to 64 calls and 4 MiB of a response. Keys and cookies are never kept.",
  },
  exchangesTtlMs: {
    name: "EXCHANGES_TTL",
    section: "Storage",
    kind: "duration",
    default: 7 * DAY,
    min: 1000,
    max: 36_500 * DAY,
    needsUnit: true,
    text: "How long kept exchanges stay, such as 12h or 7d. They go with their response at the latest.",
  },
  ownerExchangeBytesMax: {
    name: "OWNER_EXCHANGE_BYTES_MAX",
    section: "Storage",
    kind: "integer",
    default: 256 * MEBIBYTE,
    min: 0,
    max: 1_000_000_000_000_000,
    text: "Most bytes of kept exchanges of one owner (organization and project). Beyond that the oldest are removed, so requests never fail for it. 0 sets no limit. They do not count towards OWNER_BYTES_MAX.",
  },
  pricesFile: {
    name: "PRICES_FILE",
    section: "Storage",
    kind: "path",
    default: null,
    text: "YAML file with the prices of models, which lists and statistics of responses then show. docs/inspector-api.md describes it.",
  },
} as const satisfies Readonly<Record<string, Setting>>;

import type { Setting } from "../setting.ts";

/** What a key may use per minute, and who counts it. */
export const RATE_SETTINGS = {
  rateLimits: {
    name: "RATE_LIMITS",
    section: "Limits",
    kind: "choice",
    default: "auto",
    choices: ["auto", "node", "shared"],
    text: "Who counts the requests and tokens of a key. shared: all servers of one PostgreSQL database together, in the Redis or Valkey of BUS_URL or otherwise in the database; if the counters are down, each server allows its share of the limit. node: each server alone. auto: shared if DATABASE_URL is set.",
  },
  rateLimitRequestsPerMinute: {
    name: "RATE_LIMIT_REQUESTS_PER_MINUTE",
    section: "Limits",
    kind: "integer",
    default: 1_000_000,
    min: 1,
    max: 1_000_000_000_000,
    text: "Most responses that a key may request per minute, unless the key has its own limit.",
  },
  rateLimitTokensPerMinute: {
    name: "RATE_LIMIT_TOKENS_PER_MINUTE",
    section: "Limits",
    kind: "integer",
    default: 1_000_000_000,
    min: 1,
    max: 1_000_000_000_000,
    text: "Most tokens, input and output together, that a key may use per minute, unless the key has its own limit.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
